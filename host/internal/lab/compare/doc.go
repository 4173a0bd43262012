// Package compare runs recorded sessions through several strategies and settings, and says what each saves, what it
// costs at a provider's prices, and what later turns would have missed.
//
// It is for the command line and for programs that evaluate strategies. Start at [Run]; a [Report] is what it
// returns. Each session with each variant is one replay through the real window and the real plugin (package replay).
// A session is counted once for all variants, and a report is the same however much ran in parallel, but for its
// durations.
//
// # Cost
//
// Every request is priced as package pricing does: the beginning that it has in common with the request before is
// read from the provider's prompt cache, the rest is written to it, and after a pause the cache is cold. Doing
// nothing is priced in the same way, so that a strategy which saves tokens and breaks the cache shows as what it is.
// The system prompt and the tool schemas are in no history and therefore in no cost; they add the same to each
// request of every variant. What the strategy's own model calls cost is in the cost of the variant and stands beside
// it too.
//
// # Recall
//
// A recorded session tells what the agent went on to use. From every answer of the model, its text and the parameters
// of its calls, the identifiers are taken: paths, names with a structure (snake_case, camelCase, dotted, hyphens with
// digits), numbers of three digits and more, hexadecimal and other ids, error codes, and what stands in quotes. Of
// those that stood in the unpruned context of that request, [Recall] is the share that stood in what was sent in its
// place: in the same entry, in another, or in a summary. An identifier is the same if it is the same letter by
// letter. The results-only share leaves out what people or the model itself had said too; it is the stricter one,
// since a model repeats names, and what it repeated stays when the result goes.
//
// What recall does not tell: whether the model would have done something else; whether a name without its
// surroundings was of any use; whether what it lost could be had again by one more call. A strategy that replaces the
// content of a file but leaves its path keeps the path's recall. A low recall is a reason to look at [Recall.Lost], a
// high one is no proof.
//
// Of a block, the first MiB is looked at; a run of more than 256 bytes without a space is data and no identifier; one
// answer uses 4096 identifiers at most.
//
// # Re-reads
//
// [Rereads] counts calls that the recorded agent made although it had made the same call before, where the variant
// had pruned every earlier result of it. The agent made them with the earlier result at hand, often because something
// had changed since: no pruning caused them. But they name results that were asked for again, and a variant with many
// more of them than another prunes what is needed.
package compare
