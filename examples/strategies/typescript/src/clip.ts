/** From how many characters on a line is cut in itself: the host takes pieces of long lines, and other lines as a whole. */
const longLine = 400;

/** The fewest characters of a long line that are kept. */
const leastPiece = 32;

/** The most characters that the sentence in the middle takes, line breaks included. */
const markerRoom = 60;

/** The fewest characters that a text can be clipped to. */
export const fewestCharacters = 200;

/**
 * Returns text if it has at most max characters (UTF-16 units, at least {@link fewestCharacters}), else its beginning
 * and its end with a sentence between them on a line of its own, at most max characters in all. Clipping the result again changes nothing.
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
  const first = lineAt(text, head);
  if (first.end - first.start <= longLine || head - first.start < leastPiece) head = first.start;
  const last = lineAt(text, tail);
  if (last.start < tail && (last.end - last.start <= longLine || last.end - tail < leastPiece)) tail = last.end;
  const left = text.slice(0, head);
  const gap = left === "" || left.endsWith("\n") ? "" : "\n";
  return `${left}${gap}[… ${tail - head} characters left out …]\n${text.slice(tail)}`;
}

/** Where the line at a position begins and ends, with its line break. */
function lineAt(text: string, at: number): { start: number; end: number } {
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  return { start, end: end < 0 ? text.length : end + 1 };
}

/** Reports whether the unit at a position is the second half of a surrogate pair. */
function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
