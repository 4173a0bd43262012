/** The most characters that the sentence in the middle takes, line breaks included. */
const markerRoom = 60;

/** The fewest characters that a text can be clipped to. */
export const fewestCharacters = 200;

/**
 * Returns text if it has at most max characters (UTF-16 units, at least {@link fewestCharacters}), else its beginning
 * and its end with a sentence between them, at most max characters in all. Clipping the result again changes nothing.
 */
export function clip(text: string, max: number): string {
  if (text.length <= max) {
    return text;
  }
  const room = max - markerRoom;
  let head = Math.ceil((room * 2) / 3);
  let tail = text.length - (room - head);
  // A cut between the two units of a surrogate pair would leave half a character.
  if (isLow(text, head)) head--;
  if (isLow(text, tail)) tail++;
  return `${text.slice(0, head)}\n[… ${tail - head} characters left out …]\n${text.slice(tail)}`;
}

/** Reports whether the unit at a position is the second half of a surrogate pair. */
function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
