// Which response answers which call: a host refuses an answer that parts them.

import { pinned, type Entry } from "./protocol";

/**
 * Returns the positions of the entries of each call and its response. A response answers the nearest preceding
 * unanswered call with its id: ids repeat in real transcripts. The time is proportional to the number of blocks.
 */
function pairs(history: Entry[]): { call: number; response: number }[] {
  const found: { call: number; response: number }[] = [];
  const waiting = new Map<string, number[]>(); // id → entries whose calls are unanswered, the last on top
  history.forEach(({ content }, i) => {
    for (const block of content.blocks) {
      if (block.toolCall && content.speaker === "ai") {
        const calls = waiting.get(block.toolCall.id);
        if (calls) calls.push(i);
        else waiting.set(block.toolCall.id, [i]);
      } else if (block.toolResponse && content.speaker === "tool") {
        const call = waiting.get(block.toolResponse.callId)?.pop();
        if (call !== undefined) {
          found.push({ call, response: i });
        }
      }
    }
  });
  return found;
}

/**
 * Returns the pinned entries, which a host demands to stay as they are, with those that hold their calls and responses.
 */
export function pinnedExchanges(history: Entry[]): Set<number> {
  const stay = new Set<number>();
  history.forEach((entry, i) => pinned(entry) && stay.add(i));
  const linked = stay.size > 0 ? pairs(history) : [];
  for (let before = -1; before !== stay.size; ) {
    before = stay.size;
    for (const { call, response } of linked) {
      if (stay.has(call) || stay.has(response)) {
        stay.add(call).add(response);
      }
    }
  }
  return stay;
}

/**
 * Returns the first position at or after from where a history can be cut without separating a response from its call,
 * and whose entry is not a tool's; 0 stays 0.
 */
export function safeCut(history: Entry[], from: number): number {
  if (from === 0) {
    return 0;
  }
  // +1 after a call, -1 after its response: the sum is the number of open pairs.
  const parted = new Int32Array(history.length + 2);
  for (const { call, response } of pairs(history)) {
    parted[call + 1]!++;
    parted[response + 1]!--;
  }
  let open = 0;
  for (let cut = 0; cut < history.length; cut++) {
    open += parted[cut]!;
    if (cut >= from && open === 0 && history[cut]!.content.speaker !== "tool") {
      return cut;
    }
  }
  return history.length;
}
