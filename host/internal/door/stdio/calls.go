package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk/content"
)

// now makes a call of a function that is done when it returns. Such a method must be quick: everything else of the
// session waits for it, additions included.
func now[P any](
	f func(ctx context.Context, s *host.Session, p P) (any, error),
) func(context.Context, *queue, json.RawMessage, func(any, error)) {
	return func(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			done(nil, err)
			return
		}
		// Still on the goroutine of the queue, which makes additions take effect in the order in which they arrived.
		done(f(ctx, q.session, p))
	}
}

// inTurn makes a call of a function that runs after the requests before it have taken effect. Entries that are added
// meanwhile do not wait for it, and it does not see them: up is the moment when its turn was. Cancelling ctx ends a
// call that runs; one that waits still waits for those before it.
func inTurn[P any](
	f func(ctx context.Context, s *host.Session, p P, up *host.Mark) (any, error),
) func(context.Context, *queue, json.RawMessage, func(any, error)) {
	return func(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			done(nil, err)
			return
		}
		s := q.session
		// Taken in the queue, before anything that arrives later is added.
		up := s.Mark()
		q.inBackground(func() { done(f(ctx, s, p, &up)) })
	}
}

// empty is the result of a method that returns nothing.
type empty struct{}

// sessionParams is embedded by the parameters of every method that is about a session. The id was used to find the
// queue already, so the methods do not look at it.
type sessionParams struct {
	Session string `json:"session"`
}

// Value is any JSON; null removes the override.
type setParams struct {
	sessionParams
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// set returns the error of the settings, which names the key, the value and what is allowed.
func set(_ context.Context, s *host.Session, p setParams) (any, error) {
	if p.Key == "" {
		return nil, &Error{Code: CodeParams, Message: `params: "key" is missing`}
	}
	return empty{}, s.Set(p.Key, p.Value)
}

// setInTurn lets entries be added while it waits, except to an empty history: a setting may then decide how they are
// counted, and a prepare of an empty history takes no time.
func setInTurn(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
	// Revision 0 is a history to which nothing was ever added.
	if q.session.History().Revision == 0 {
		q.await()
		now(set)(ctx, q, raw, done)
		return
	}
	inTurn(func(ctx context.Context, s *host.Session, p setParams, _ *host.Mark) (any, error) {
		return set(ctx, s, p)
	})(ctx, q, raw, done)
}

// closeSession runs when all requests before it have ended: the method holds the queue.
func closeSession(ctx context.Context, q *queue, raw json.RawMessage, done func(any, error)) {
	now(func(_ context.Context, s *host.Session, _ sessionParams) (any, error) {
		if err := s.Close(); err != nil {
			return nil, err // the transcript could not be written: the session stays open
		}
		// From here on the id is free, and requests for it are refused until it is opened again.
		q.session = nil
		return empty{}, nil
	})(ctx, q, raw, done)
}

// Entries stay raw until they are decoded one by one, so that an error can name the one that is wrong. Opaque takes
// them as they are, whatever they hold; they are then never pruned.
type addParams struct {
	sessionParams
	Entries []json.RawMessage `json:"entries"`
	Opaque  bool              `json:"opaque"`
	messageParams
}

// messageParams are messages in a provider's form, in place of entries. System and Instructions are the same, as
// different providers name it.
type messageParams struct {
	Format       host.Form         `json:"format"`
	Messages     []json.RawMessage `json:"messages"`
	System       json.RawMessage   `json:"system"`
	Instructions json.RawMessage   `json:"instructions"`
}

// check returns what is wrong with the parameters of history.add.
func (p addParams) check() error {
	wrong := ""
	// Said here and not where the entries are read: each of these is a mistake in the call, and no entry is to blame.
	switch {
	case p.Format == "" && (p.Messages != nil || p.System != nil || p.Instructions != nil):
		wrong = `"format" is missing: it says in which form "messages" are`
	case p.Format != "" && p.Entries != nil:
		wrong = `"entries" are in the native form; with "format", give "messages"`
	case p.Format != "" && p.Opaque:
		wrong = `"opaque" is for "entries": in messages, parts of all types are carried`
	case p.System != nil && p.Instructions != nil:
		wrong = `"system" and "instructions" are the same: give one`
	default:
		return checkForm(p.Format)
	}
	return &Error{Code: CodeParams, Message: "params: " + wrong}
}

// checkForm refuses an unknown form of messages; "" is the native form.
func checkForm(f host.Form) error {
	switch f {
	case "", host.Anthropic, host.OpenAIChat, host.OpenAIResponses:
		return nil
	}
	return &Error{Code: CodeParams, Message: fmt.Sprintf(`params: "format": %.40q: %v`, string(f), host.ErrForm)}
}

// Revision counts changes of the history, and Tokens is its size, both after the addition.
type addResult struct {
	Revision uint64 `json:"revision"`
	Tokens   int    `json:"tokens"`
}

// add appends all entries or none.
func add(ctx context.Context, s *host.Session, p addParams) (any, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Format != "" {
		system := p.System
		if p.Instructions != nil {
			system = p.Instructions
		}
		state, err := s.AddMessages(ctx, host.Messages{Form: p.Format, Messages: p.Messages, System: system})
		// On an error nothing was added, and the state is not sent.
		return addResult(state), err
	}
	entries, err := decodeEntries(p.Entries)
	if err != nil {
		return nil, err
	}
	appendEntries := s.Add
	if p.Opaque {
		appendEntries = s.AddOpaque
	}
	state, err := appendEntries(ctx, entries...)
	return addResult(state), err
}

// decodeEntries reads entries in the native form. The error names the first that cannot be read.
func decodeEntries(list []json.RawMessage) ([]content.Content, error) {
	entries := make([]content.Content, len(list))
	for i, raw := range list {
		if err := entries[i].UnmarshalJSON(raw); err != nil {
			return nil, &host.Error{Kind: host.KindEntry, Entry: &i,
				Err: fmt.Errorf("add entry %d: %w: %w", i, host.ErrInvalidEntry, err)}
		}
	}
	return entries, nil
}

// History is never null, as an empty history is a list as well.
type historyResult struct {
	History  []content.Content `json:"history"`
	Tokens   int               `json:"tokens"`
	Revision uint64            `json:"revision"`
}

// get shows the history as it was when the request arrived, not as it is when it is answered: what the agent sent later
// is not in it.
func get(_ context.Context, s *host.Session, _ sessionParams, up *host.Mark) (any, error) {
	h := s.HistoryAt(up)
	return historyResult{h.Entries, h.Tokens, h.Revision}, nil
}

// ID is that of an entry (e12) or of a tool call.
type recordedParams struct {
	sessionParams
	ID string `json:"id"`
}

// recordedResult has the entries as they were added; the id of a call finds the call and its responses.
type recordedResult struct {
	Entries []content.Content `json:"entries"`
}

// recorded reads the transcript log from the disk. It is not in turn, since the log only grows.
func recorded(ctx context.Context, s *host.Session, p recordedParams) (any, error) {
	entries, err := s.Originals(ctx, p.ID)
	return recordedResult{entries}, err
}

// systemParams has the prompt as a text or a list of text parts, in the native form or that of a provider.
type systemParams struct {
	sessionParams
	System json.RawMessage `json:"system"`
}

type systemResult struct {
	Tokens int `json:"tokens"`
}

// setSystem sets the system prompt; null and "" remove it.
func setSystem(ctx context.Context, s *host.Session, p systemParams, _ *host.Mark) (any, error) {
	if err := setSystemOf(ctx, s, p.System); err != nil {
		return nil, err
	}
	return systemResult{s.SystemTokens()}, nil
}

// setSystemOf is shared with session.open, which takes a prompt too.
func setSystemOf(ctx context.Context, s *host.Session, raw json.RawMessage) error {
	// Null and "" are what libraries send for "none".
	var blocks []content.Block
	if text := string(raw); text != "" && text != "null" && text != `""` {
		var err error
		if blocks, err = host.ParseSystem(raw); err != nil {
			return err
		}
	}
	return s.SetSystem(ctx, blocks...)
}

// sessionResult is what an agent needs to go on with a session: the counts are in tokens, of the history as it was when
// the request arrived.
type sessionResult struct {
	Session      string            `json:"session"`
	System       []json.RawMessage `json:"system"`
	SystemTokens int               `json:"systemTokens"`
	Entries      int               `json:"entries"`
	Tokens       int               `json:"tokens"`
	Revision     uint64            `json:"revision"`
}

// getSession returns no entries, so that it is cheap however long the history is.
func getSession(_ context.Context, s *host.Session, _ sessionParams, up *host.Mark) (any, error) {
	h := s.HistoryAt(up)
	return sessionResult{
		Session: s.ID(), System: systemBlocks(s.System()), SystemTokens: s.SystemTokens(),
		Entries: len(h.Entries), Tokens: h.Tokens, Revision: h.Revision,
	}, nil
}

// todosParams has the whole list; an empty one removes all todos.
type todosParams struct {
	sessionParams
	Todos []host.Todo `json:"todos"`
}

// setTodos replaces the list; the next Compress is told of it.
func setTodos(_ context.Context, s *host.Session, p todosParams, _ *host.Mark) (any, error) {
	return empty{}, s.SetTodos(p.Todos)
}

// PromptTokens is the provider's own count of the last request, including what it read from its cache.
type usageParams struct {
	sessionParams
	PromptTokens int `json:"promptTokens"`
}

// reportUsage is in turn, so that the figure belongs to the prepare before it.
func reportUsage(_ context.Context, s *host.Session, p usageParams, _ *host.Mark) (any, error) {
	// 0 is what agents send that do not know. Calibrating by it would make all later counts too small.
	if p.PromptTokens <= 0 {
		return nil, &Error{Code: CodeParams, Message: `params: "promptTokens" must be above 0`}
	}
	s.ReportUsage(p.PromptTokens)
	return empty{}, nil
}

// compressResult has the size after the compress. The outcome says why, if nothing was compressed.
type compressResult struct {
	Tokens   int          `json:"tokens"`
	Revision uint64       `json:"revision"`
	Outcome  host.Outcome `json:"outcome"`
}

// compressHistory compresses up to the mark. It returns no history: an agent that wants it calls window.prepare.
func compressHistory(ctx context.Context, s *host.Session, _ sessionParams, up *host.Mark) (any, error) {
	out, err := s.CompressUpTo(ctx, up)
	if err != nil {
		return nil, err
	}
	// Of the new history without what was added meanwhile, so that the figures belong to the outcome.
	h := s.HistoryAt(up)
	return compressResult{h.Tokens, h.Revision, out}, nil
}

// PendingTokens is what the request holds besides the history; 0 if nothing. Since is the revision of a prepared
// history that the agent still has.
type prepareParams struct {
	sessionParams
	PendingTokens int       `json:"pendingTokens"`
	Format        host.Form `json:"format"`
	Since         *uint64   `json:"since"`
}

// prepareResult is a prepared history: entries, or messages in the form that was asked for.
type prepareResult struct {
	Keep         *int               `json:"keep,omitempty"` // with since
	System       any                `json:"system,omitempty"`
	Instructions json.RawMessage    `json:"instructions,omitempty"`
	History      *[]content.Content `json:"history,omitempty"`
	Messages     any                `json:"messages,omitempty"`
	Notes        []string           `json:"notes,omitempty"`
	Tokens       int                `json:"tokens"`
	SystemTokens int                `json:"systemTokens,omitempty"`
	Revision     uint64             `json:"revision"`
	Outcome      host.Outcome       `json:"outcome"`
}

// prepared returns a prepared history in a form; "" is the native one.
func prepared(s *host.Session, ready host.Prepared, form host.Form) (prepareResult, error) {
	r := prepareResult{
		Tokens: ready.Tokens, SystemTokens: s.SystemTokens(), Revision: ready.Revision, Outcome: ready.Outcome,
	}
	if form == "" {
		r.History = &ready.History
		// An agent that sets no system prompt sees no field of it.
		if len(ready.System) > 0 {
			r.System = systemBlocks(ready.System)
		}
		return r, nil
	}
	request, err := ready.Request(form)
	if request.System != nil {
		r.System = request.System
	}
	r.Messages, r.Instructions, r.Notes = request.Messages, request.Instructions, request.Notes // messages may be []
	return r, err
}

// leaveOut removes from the result what the agent has since a revision. The host remembers the last prepared history
// only, so that of an older one nothing can be kept.
func (r *prepareResult) leaveOut(ready host.Prepared, form host.Form, since uint64) error {
	keep := 0
	if since == ready.UnchangedSince {
		keep = ready.Unchanged
	}
	r.Keep = &keep
	if form == "" {
		rest := (*r.History)[keep:]
		r.History = &rest
		return nil
	}
	// A message may hold several entries. The last one of the unchanged entries may have held more than these before.
	ready.History = ready.History[:keep]
	unchanged, err := ready.Request(form)
	if err != nil {
		return err
	}
	messages := r.Messages.([]json.RawMessage)
	keep = 0
	for keep < len(unchanged.Messages)-1 && bytes.Equal(unchanged.Messages[keep], messages[keep]) {
		keep++
	}
	r.Messages = messages[keep:]
	return nil
}

// systemBlocks are blocks as JSON. The list is empty, never null, for no blocks.
func systemBlocks(blocks []content.Block) []json.RawMessage {
	out := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		out[i] = content.AppendBlock(nil, b)
	}
	return out
}

// prepareWindow is the one method that an agent must call before each request to its model.
func prepareWindow(ctx context.Context, s *host.Session, p prepareParams, up *host.Mark) (any, error) {
	if p.PendingTokens < 0 {
		return nil, &Error{Code: CodeParams, Message: `params: "pendingTokens" must not be negative`}
	}
	if err := checkForm(p.Format); err != nil {
		return nil, err
	}
	ready, err := s.Prepare(ctx, host.PrepareOptions{PendingTokens: p.PendingTokens, UpTo: up})
	result, wrong := prepared(s, ready, p.Format)
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		e := failure(err)
		// Even then the agent can go on: with the history as it is, or with an error to its user.
		if ready.History != nil {
			e.Data.Prepared = result
		}
		return nil, e
	}
	if p.Since != nil {
		if err := result.leaveOut(ready, p.Format, *p.Since); err != nil {
			return nil, err
		}
	}
	return result, nil
}
