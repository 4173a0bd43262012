package transcript

import (
	"bytes"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// report takes the usage of a request. A report whose total has not grown repeats the one before, as when the limits of
// an account are reported anew: no request was made between them.
func (c *codex) report(info ordered.Object) {
	total := info.Raw("total_token_usage")
	if !rawjson.IsNull(total) && bytes.Equal(total, c.total) {
		return
	}
	c.total = bytes.Clone(total)
	c.usage(info.Raw("last_token_usage"), "")
}

// usage attaches the provider's counts to the first entry that answered the request, and the id of the response, which
// newer versions record. Codex reports them when the request is over, which may be after the results of its calls, and
// repeats the report when nothing was asked since. Several requests whose answers follow each other directly share an
// entry. The first report is kept then, because its prompt ended right before that entry.
func (c *codex) usage(usage []byte, response string) {
	if rawjson.IsNull(usage) {
		return
	}
	if c.reply < 0 {
		c.spare = ordered.Object{{Name: "usage", Value: bytes.Clone(usage)},
			{Name: fieldRequest, Value: content.String(response)}}
		c.name(usage, response)
		return
	}
	reply := c.reply
	if c.reply = -1; reply == c.told {
		return
	}
	c.told = reply
	entry := &c.b.Entries[reply]
	var meta ordered.Builder
	meta.Rest(ordered.Of(entry.Metadata))
	meta.Text("model", c.b.t.Model) // of this turn
	meta.Raw("usage", usage)
	meta.Text(fieldRequest, response)
	entry.Metadata = meta.JSON()
}

// compaction returns the usage of the request that made a compaction, which newer versions record before it; nil if it
// is not known. No total has it.
func (c *codex) compaction(payload ordered.Object) ordered.Object {
	id := payload.Text("compaction_response_id")
	if id == "" || c.spare.Text(fieldRequest) != id {
		return nil
	}
	return append(c.spare, ordered.Field{Name: "model", Value: content.String(c.b.t.Model)})
}

// name adds the id of a response whose usage was told before without it.
func (c *codex) name(usage []byte, response string) {
	if c.told < 0 {
		return
	}
	entry := &c.b.Entries[c.told]
	if about := ordered.Of(entry.Metadata); !about.Has(fieldRequest) && ordered.Same(usage, about.Raw("usage")) {
		var meta ordered.Builder
		meta.Rest(about)
		meta.Text(fieldRequest, response)
		entry.Metadata = meta.JSON()
	}
}
