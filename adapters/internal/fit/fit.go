package fit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk/content"
)

// maxIdle is how many conversations a Keeper remembers. One that was forgotten is added to a new session as a whole.
const maxIdle = 64

// beginning is what a model is told in place of a beginning that is gone.
const beginning = "[the beginning is not in the transcript]"

// Framework is what an adapter knows about the messages of a framework.
type Framework[M any] struct {
	// Entry returns what the message at i says. Of its metadata only "pinned" is used.
	Entry func(messages []M, i int) content.Content
	// Messages returns what an entry is, that a strategy changed or made. It was made from the message was, which must
	// not be changed; the zero value is none.
	Messages func(was M, now content.Content) []M
	// Same reports whether two messages are equal.
	Same func(a, b M) bool
}

// Request is what a model is about to be sent. Besides is what else it has, such as the schemas of tools.
type Request[M any] struct {
	System   []content.Block
	Messages []M
	Besides  string
}

// Keeper keeps a session of the host for each conversation. It is safe for concurrent use.
type Keeper[M any] struct {
	host      *host.Host
	framework Framework[M]

	mu   sync.Mutex
	idle []*conversation[M] // the one used last is last
}

// New returns a Keeper, whose sessions end with the host.
func New[M any](h *host.Host, f Framework[M]) *Keeper[M] {
	return &Keeper[M]{host: h, framework: f}
}

// conversation is a session, and the messages of it.
type conversation[M any] struct {
	session *host.Session
	system  []content.Block
	besides string
	pending int // its tokens
	// Everything that was added, and the entries that it became.
	added   []M
	entries []content.Content
	// What was returned last, also by entry, and the revision of that.
	sent     []M
	byEntry  [][]M
	revision uint64
	// Who speaks first in that.
	first content.Speaker
}

// Fit returns the messages to send. If the strategy fails, these are the messages as they are, and the log says why. An
// error is about the request: it is too large although everything was tried, or its context has ended.
func (k *Keeper[M]) Fit(ctx context.Context, r Request[M]) ([]M, error) {
	c, fresh, err := k.take(ctx, r.Messages)
	if err != nil {
		return nil, fmt.Errorf("thresh: %w", err)
	}
	if err := c.add(ctx, k, r, fresh); err != nil {
		return nil, fmt.Errorf("thresh: %w", errors.Join(err, c.session.Close(context.WithoutCancel(ctx))))
	}
	ready, err := c.session.Prepare(ctx, api.PrepareRequest{PendingTokens: c.pending, Since: &c.revision})
	if err != nil {
		switch host.ErrorOf(err).Kind {
		case api.KindOverflow, api.KindCanceled, api.KindDeadline, api.KindSession:
			c.sent, c.revision = slices.Clone(r.Messages), 0 // the next list begins with the same messages
			k.put(ctx, c)
			return nil, fmt.Errorf("thresh: %w", err)
		}
		slog.WarnContext(ctx, "thresh: the messages are sent as they are", "err", err)
	}
	c.convert(k.framework, ready)
	k.put(ctx, c)
	return slices.Clone(c.sent), nil
}

// take returns the conversation that the messages continue, and which of them are new. Nobody else has it until it is
// put back.
func (k *Keeper[M]) take(ctx context.Context, messages []M) (*conversation[M], []M, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, known := -1, 0
	for i, c := range k.idle {
		for _, began := range [][]M{c.added, c.sent} {
			if n := len(began); n > known && n <= len(messages) && slices.EqualFunc(began, messages[:n], k.framework.Same) {
				found, known = i, n
			}
		}
	}
	if found >= 0 {
		c := k.idle[found]
		k.idle = slices.Delete(k.idle, found, found+1)
		if !c.session.Closed() {
			return c, messages[known:], nil
		}
	}
	s, err := k.host.Open(ctx, api.OpenRequest{})
	return &conversation[M]{session: s}, messages, err
}

func (k *Keeper[M]) put(ctx context.Context, c *conversation[M]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = append(k.idle, c)
	if len(k.idle) > maxIdle {
		// It would be kept for as long as the host lives.
		if err := k.host.Delete(ctx, api.Of{Session: k.idle[0].session.ID()}); err != nil {
			slog.Warn("thresh: a session was not deleted", "err", err)
		}
		k.idle = slices.Delete(k.idle, 0, 1)
	}
}

// source is the metadata of an entry that was made from a message: its position among those added.
type source struct {
	Message *int `json:"message"`
}

func (c *conversation[M]) add(ctx context.Context, k *Keeper[M], r Request[M], fresh []M) error {
	if !slices.EqualFunc(c.system, r.System, content.Equal) {
		if _, err := c.session.SetSystem(ctx, api.SystemRequest{System: api.Prompt(r.System...)}); err != nil {
			return err
		}
		c.system = r.System
	}
	if c.besides != r.Besides {
		text := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: r.Besides}}}
		counted, err := k.host.Count(ctx, api.CountRequest{Entries: []content.Content{text}})
		if err != nil {
			return err
		}
		c.besides, c.pending = r.Besides, counted.Tokens
	}
	if len(fresh) == 0 {
		return nil
	}
	all := slices.Concat(c.added, fresh)
	entries := slices.Clip(c.entries)
	for i := len(c.added); i < len(all); i++ {
		e := k.framework.Entry(all, i)
		e.Metadata = fmt.Appendf(nil, `{"message":%d,"pinned":%t}`, i, e.Pinned())
		entries = append(entries, e)
	}
	if _, err := c.session.Add(ctx, api.AddRequest{Entries: entries[len(c.entries):], Opaque: true}); err != nil {
		return err
	}
	c.added, c.entries = all, entries
	return nil
}

// convert makes messages of what is to be sent. A message whose entry is as it was added is the same message.
func (c *conversation[M]) convert(f Framework[M], ready api.PrepareAnswer) {
	unchanged := 0 // of what it was told before
	if ready.Keep != nil {
		unchanged = *ready.Keep
	}
	if unchanged == 0 {
		c.first = ""
		if len(ready.History) > 0 {
			c.first = ready.History[0].Speaker
		}
	}
	c.byEntry = c.byEntry[:unchanged]
	for _, e := range ready.History {
		c.byEntry = append(c.byEntry, c.messages(f, e))
	}
	c.sent, c.revision = slices.Concat(c.byEntry...), ready.Revision
	// Providers refuse a conversation that begins with the model, and strategies may remove what was said before.
	if c.first == content.AI {
		first := content.Content{Speaker: content.Human, Blocks: []content.Block{content.Text{Text: beginning}}}
		var none M
		c.sent = append(f.Messages(none, first), c.sent...)
	}
}

func (c *conversation[M]) messages(f Framework[M], e content.Content) []M {
	var from source
	var was M
	if json.Unmarshal(e.Metadata, &from) == nil && from.Message != nil && *from.Message < len(c.added) {
		i := *from.Message
		was = c.added[i]
		if e.Speaker == c.entries[i].Speaker && slices.EqualFunc(e.Blocks, c.entries[i].Blocks, content.Equal) {
			return []M{was}
		}
	}
	return f.Messages(was, e)
}
