package transcript

import (
	"bytes"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// usage takes the counts of a request, which newer versions record before the step's content. One of a compaction
// belongs to it; those of other requests beside the conversation, such as for a title, belong to none.
func (k *kimi) usage(r record) {
	switch {
	case r.Text("usageScope") == "turn":
		k.spare = bytes.Clone(r.Raw("usage"))
	case k.begun:
		k.compact = bytes.Clone(r.Raw("usage"))
	default:
		k.b.note(r.line, -1, "the usage of a request beside the conversation is left out")
	}
}

// forked marks what was before it as the parent's.
func (k *kimi) forked() {
	k.settle()
	marked := func(meta []byte) []byte {
		var out ordered.Builder
		out.Rest(ordered.Of(meta).But(fromFork))
		out.Flag(fromFork, true)
		return out.JSON()
	}
	for i := range k.b.Entries {
		k.b.Entries[i].Metadata = marked(k.b.Entries[i].Metadata)
	}
	for i := range k.b.t.Boundaries {
		k.b.t.Boundaries[i].Meta = marked(k.b.t.Boundaries[i].Meta)
	}
}

// report gives the step the usage with which it ended, and the id of the provider's answer.
func (k *kimi) report(usage []byte, id string) {
	if k.step < 0 || rawjson.IsNull(usage) {
		return
	}
	entry := &k.b.Entries[k.step]
	var meta ordered.Builder
	meta.Rest(ordered.Of(entry.Metadata).But("usage", fieldRequest))
	meta.Raw("usage", usage)
	meta.Text(fieldRequest, id)
	entry.Metadata = meta.JSON()
}

// compaction reads a compaction. Newer ones keep a number of the messages that persons wrote, the first of them from
// the beginning, and put the summary behind them; older ones keep the messages behind a position, and begin with the
// summary.
func (k *kimi) compaction(r record) {
	k.settle()
	b, line := k.b, r.line
	meta := ordered.Object{{Name: "tokensBefore", Value: r.Raw("tokensBefore")}, {Name: "usage", Value: k.compact},
		{Name: "model", Value: content.String(k.model)}}
	b.boundary(BoundaryCompaction, meta.JSON())
	k.compact, k.begun = nil, false
	kept, newer := ordered.Whole(r.Raw("keptUserMessageCount"))
	old, first := k.context, 0
	k.context = nil
	if newer {
		old = slices.DeleteFunc(slices.Clone(old), func(m kimiMessage) bool { return !m.kept })
		head, _ := ordered.Whole(r.Raw("keptHeadUserMessageCount"))
		head, kept = min(max(head, 0), len(old)), min(max(kept, 0), len(old))
		k.again(line, old[:head])
		if tail := len(old) - (kept - head); kept > head && tail >= head {
			if head > 0 && tail > head {
				b.remark(line, -1, "a compaction left out messages in the middle, in whose place is a note of the agent")
			}
			k.again(line, old[tail:])
		}
	} else if n, ok := ordered.Whole(ordered.First(r.Raw("compactedCount"), r.Raw("count"))); ok {
		first = min(max(n, 0), len(old))
	}
	text := r.Text("contextSummary")
	if summary, ok := rawjson.Text(r.Raw("summary")); ok && text == "" {
		text = summary
	}
	if parts, ok := ordered.Elements(r.Object.Object("summary").Raw("content")); ok && text == "" {
		for _, raw := range parts {
			text += ordered.Of(raw).Text("text")
		}
	}
	about := stamped(r.Raw("time"))
	about.Flag("isSummary", true)
	k.Ask(line, about.JSON(), content.Text{Text: text})
	k.context = append(k.context, kimiMessage{entry: len(b.Entries) - 1, to: 1})
	if !newer {
		k.again(line, old[first:])
	}
	k.step = -1
}

// again adds messages that a compaction kept.
func (k *kimi) again(line int, kept []kimiMessage) {
	b := k.b
	for _, m := range kept {
		c := b.Entries[m.entry]
		var meta ordered.Builder
		meta.Raw("timestamp", rawjson.Field(c.Metadata, "timestamp"))
		meta.Flag("fromCompaction", true)
		blocks := slices.Clone(c.Blocks[m.from:m.to])
		at := kimiMessage{anchor: m.anchor, kept: m.kept, to: len(blocks)}
		switch c.Speaker {
		case content.Tool:
			k.Answer(line, meta.JSON(), blocks...)
			at.to = len(b.Entries[len(b.Entries)-1].Blocks)
			at.from = at.to - len(blocks)
		case content.AI:
			k.Pause()
			k.Say(line, meta.JSON(), blocks...)
		default:
			k.Ask(line, meta.JSON(), blocks...)
		}
		at.entry = len(b.Entries) - 1
		k.context = append(k.context, at)
		if !b.repeat(line, contentBytes(blocks)+look) {
			break
		}
	}
	k.Pause()
}

// undo takes out the last messages of a person with all that followed them, as the next request does not hold them.
func (k *kimi) undo(r record) {
	k.settle()
	left, _ := ordered.Whole(r.Raw("count"))
	for i := len(k.context) - 1; i >= 0 && left > 0; i-- {
		if k.context[i].anchor {
			if left--; left == 0 {
				k.drop(r.line, i)
				return
			}
		}
	}
	k.b.oddity(r.line, -1, "message that cannot be taken back",
		"what was taken back is not in the file; it is left as it is")
}

func (k *kimi) drop(line, from int) {
	b, entry := k.b, k.context[from].entry
	if n := len(b.t.Boundaries); n > 0 && b.t.Boundaries[n-1].Index > entry {
		b.oddity(line, -1, "message that cannot be taken back",
			"what was taken back is before a compaction; it is left as it is")
		return
	}
	b.note(line, -1, "%d × entry that was taken back left out, with the usage of its requests", len(b.Entries)-entry)
	b.Entries, b.Lines = b.Entries[:entry], b.Lines[:entry]
	k.context, k.step = k.context[:from], -1
}
