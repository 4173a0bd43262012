"""Which response answers which call: a host refuses an answer that parts them."""

from protocol import pinned


def pairs(history):
    """Returns the positions of the entries of each call and its response. A response answers the nearest preceding
    unanswered call with its id: ids repeat in real transcripts."""
    found, waiting = [], {}  # by id: the entries whose calls are unanswered
    for i, entry in enumerate(history):
        for block in entry.content.blocks:
            if block.HasField("tool_call") and entry.content.speaker == "ai":
                waiting.setdefault(block.tool_call.id, []).append(i)
            elif block.HasField("tool_response") and entry.content.speaker == "tool":
                if waiting.get(block.tool_response.call_id):
                    found.append((waiting[block.tool_response.call_id].pop(), i))
    return found


def pinned_exchanges(history):
    """Returns the pinned entries, which a host demands to stay as they are, with those of their calls and responses."""
    stay, before = {i for i, entry in enumerate(history) if pinned(entry)}, -1
    linked = pairs(history) if stay else []
    while before != len(stay):
        before = len(stay)
        for pair in linked:
            if not stay.isdisjoint(pair):
                stay.update(pair)
    return stay


def safe_cut(history, start):
    """Returns the first position from start on where a cut parts no response from its call and no entry is a tool's."""
    if start == 0:
        return 0
    parted = [0] * (len(history) + 1)  # +1 after a call, -1 after its response: the sum is the number of open pairs
    for call, response in pairs(history):
        parted[call + 1] += 1
        parted[response + 1] -= 1
    opened = 0
    for cut, entry in enumerate(history):
        opened += parted[cut]
        if cut >= start and opened == 0 and entry.content.speaker != "tool":
            return cut
    return len(history)
