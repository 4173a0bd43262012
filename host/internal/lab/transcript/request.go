package transcript

import (
	"slices"
	"time"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Request is one request of the recorded agent to its model. Recordings do not contain requests; they follow from who
// spoke.
type Request struct {
	// Entry is the first entry that answers it; the number of entries if nothing does.
	Entry int
	// From is the first entry that it held: 0, or the first one behind the last [Boundary] that replaced the context.
	// It held the entries from there up to, not including, Entry.
	From int
	// Boundary says that the recorder had compacted since the request before.
	Boundary bool
	// At is when the last entry in the request that has a time was recorded; zero if none has. Replays derive from it
	// whether the prompt cache had expired.
	At time.Time
	// Reported is the recorder's count of the prompt, in tokens; 0 if it has none.
	Reported int
	// Usage is what the answer was billed for: one element, several if the recorder called the model again without
	// anything in between, none if it has none.
	Usage []Usage
	// Output is the tokens of the answer where the prompt's were not recorded, and Usage has none; 0 if unknown.
	Output int
}

// Requests returns the requests of the recorded agent, in order: one before each run of entries of the AI, and one at
// the end if the last entry is not the AI's; that one was never answered. What another session asked is none of them,
// and what a compaction kept was asked before. Replays, comparisons and explanations all use it, so they agree on
// when the model was called.
func (t *Transcript) Requests() []Request {
	replaced, usage := t.Replaced(), t.Usage
	var out []Request
	var next Request
	ask := func(entry int) {
		next.Entry, next.Reported = entry, 0
		// Usage of an entry that did not begin an answer belongs to no request.
		for len(usage) > 0 && usage[0].Entry < entry {
			usage = usage[1:]
		}
		if len(usage) > 0 && usage[0].Entry == entry {
			next.Reported = usage[0].PromptTokens
		}
		out = append(out, next)
		next.Boundary = false
	}
	// As if a person had spoken first: an AI entry at the beginning answers a request with an empty history.
	before := content.Human
	for i, c := range t.Entries {
		if replaced[i] {
			next.Boundary, next.From = true, i
		}
		// A compaction in the middle of an answer separates two requests.
		if c.Speaker == content.AI && (before != content.AI || replaced[i]) && !copied(c) && !kept(c) {
			ask(i)
		}
		if at, ok := Time(c); ok {
			next.At = at
		}
		switch before = c.Speaker; {
		case ByProvider(c):
			before = content.AI
		case kept(c): // an answer behind it is a new one
			before = content.Human
		}
	}
	if n := len(t.Entries); n > 0 && before != content.AI && !copied(t.Entries[n-1]) {
		ask(len(t.Entries))
	}
	usage = t.Usage
	for i := range slices.Backward(out) {
		first := len(usage)
		// The compaction with which a fork may begin has no request before it.
		for first > 0 && (usage[first-1].Entry >= out[i].Entry || i == 0) {
			first--
		}
		out[i].Usage, usage = usage[first:], usage[:first:first]
	}
	i := 0
	for _, a := range t.answers {
		for i+1 < len(out) && out[i+1].Entry <= a.entry {
			i++
		}
		if i < len(out) && out[i].Entry <= a.entry {
			out[i].Output += a.output
		}
	}
	return out
}

// kept reports whether an entry repeats one that a compaction kept.
func kept(c content.Content) bool { return rawjson.Field(c.Metadata, "fromCompaction") != nil }

const providerExecuted = "providerExecuted"

// ByProvider reports whether an entry has the result of a call that the provider ran while it answered, such as a web
// search: what the model says behind it is the same answer.
func ByProvider(c content.Content) bool { return rawjson.Field(c.Metadata, providerExecuted) != nil }

// Replaced returns the positions of the entries before which a compaction of the recorder emptied the context. A key
// may equal the number of entries.
func (t *Transcript) Replaced() map[int]bool {
	out := map[int]bool{}
	for _, b := range t.Boundaries {
		if b.Replaces() {
			out[b.Index] = true
		}
	}
	return out
}
