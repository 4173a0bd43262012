package service

import (
	"context"

	"github.com/thresh-dev/thresh/host"
)

// Method is a method that agents call by name.
type Method struct {
	// Name is what requests call it by; the part before the dot is what it is about.
	Name string
	// Params and Result describe the objects that are sent and returned; "?" marks an optional member.
	Params, Result string
	// Meaning says what the method does.
	Meaning string
	// Order is its place among the requests of the same session.
	Order Order
	// Session reads the parameters of a method of a session, Host those of a method of none, by a function of the door.
	// Rows without either are the door's own: they are about its connection, or about which sessions are open.
	Session func(read func(params any) error) (SessionCall, error)
	Host    func(read func(params any) error) (HostCall, error)
}

// SessionCall and HostCall are methods with their parameters. upTo is the moment when the request came, for methods
// that run later; nil is now.
type (
	SessionCall func(ctx context.Context, s *Session, upTo *host.Mark) (any, error)
	HostCall    func(ctx context.Context, s *Service) (any, error)
)

// Order says when a door with an order runs a method.
type Order int

const (
	// InTurn runs it after the requests before it, while entries are added, which it does not see.
	InTurn Order = iota
	// AtOnce lets it overtake all but additions. It must be quick.
	AtOnce
	// InTurnOnceBegun is AtOnce until something was added: a setting may decide how entries are counted.
	InTurnOnceBegun
	// Last runs it when those before it have ended. Then the session is closed.
	Last
)

// Methods returns all methods, in the order in which an agent meets them. 'thresh run --help' prints this table. The
// names and members are the contract with agents: they are added to, and never changed.
func Methods() []Method {
	return []Method{
		{Name: "initialize", Params: "{}", Result: "{name, version, methods, strategies, limits}",
			Meaning: "Says what this thresh can do. Calling it is optional."},
		{Name: "session.open", Params: "{id?, settings?, system?}", Result: "{session, revision, tokens, entries}",
			Meaning: "Opens a session, and returns its id and size. Settings override those of the host, by key." +
				" system is the system prompt. With sessions.store, a session with a known id goes on where it was."},
		{Name: "session.get", Params: "{session}", Result: "{session, system, systemTokens, entries, tokens, revision}",
			Session: ofSession((*Session).State), Meaning: "Returns the system prompt, and the size of the history."},
		{Name: "session.setSystem", Params: "{session, system}", Result: "{tokens}",
			Session: ofSession((*Session).SetSystem),
			Meaning: "Sets the system prompt, which is kept apart from the history; null removes it. Returns what it " +
				"counts."},
		{Name: "session.set", Params: "{session, key, value}", Result: "{}",
			Session: ofSession((*Session).Set), Order: InTurnOnceBegun,
			Meaning: "Overrides one setting from the next window.prepare on; null removes the override."},
		{Name: "history.add", Params: "{session, entries, opaque?, key?} or {session, messages, format, system?, key?}",
			Result: "{revision, tokens}", Session: ofSession((*Session).Add), Order: AtOnce,
			Meaning: "Appends entries, or messages in the form anthropic, openai-chat or openai-responses, all or " +
				"none. Never waits for other methods." +
				" Requests that were sent before do not see the entries."},
		{Name: "window.prepare", Params: "{session, pendingTokens?, format?, since?}",
			Result:  "{history, system?, tokens, revision, outcome}; with format messages in place of history",
			Session: ofSession((*Session).Prepare),
			Meaning: "Makes the history fit the model and returns it. Call it before every model call. pendingTokens " +
				"is what the request holds in addition to the history and the system prompt of the session, such as " +
				"tool schemas. With format, the result can be sent as it is. With since, the revision of the last " +
				"result, it has only what follows the first \"keep\" entries or messages of that."},
		{Name: "history.compress", Params: "{session}", Result: "{tokens, revision, outcome}",
			Session: ofSession((*Session).Compress),
			Meaning: "Compresses the history now, regardless of the threshold."},
		{Name: "todos.set", Params: "{session, todos}", Result: "{}", Session: ofSession((*Session).SetTodos),
			Meaning: "Replaces the agent's task list. Summaries keep why each unfinished task exists."},
		{Name: "usage.report", Params: "{session, promptTokens}", Result: "{}",
			Session: ofSession((*Session).ReportUsage),
			Meaning: "Reports the provider's count of the last prepared request, cached tokens included."},
		{Name: "history.get", Params: "{session}", Result: "{history, tokens, revision}",
			Session: ofSession((*Session).History),
			Meaning: "Returns the owned history, including what is not sent to a model."},
		{Name: "history.recorded", Params: "{session, id}", Result: "{entries}",
			Session: ofSession((*Session).Recorded), Order: AtOnce, // what was recorded never changes
			Meaning: "Returns what was added under the id of an entry or of a tool call. Needs transcript.dir or " +
				"sessions.store."},
		{Name: "history.explain", Params: "{session, id?}", Result: "{changes}",
			Session: ofSession((*Session).Explain), Order: AtOnce, // nor does what was done
			Meaning: "Returns what became of an entry, or of all, and why. Needs sessions.store."},
		{Name: "session.close", Params: "{session}", Result: "{}", Session: ofSession((*Session).close), Order: Last,
			Meaning: "Closes the session. Its id can be used again; with sessions.store, it then goes on."},
		{Name: "session.delete", Params: "{session}", Result: "{}",
			Meaning: "Closes the session, if it is open, and deletes what is kept of it."},
		{Name: "tokens.count", Params: "{entries}", Result: "{tokens, each}", Host: ofHost((*Service).Count),
			Meaning: "Counts entries as history.add would, and adds nothing."},
		{Name: "plugins.list", Params: "{}", Result: "{plugins}", Host: ofHost((*Service).Plugins),
			Meaning: "Returns every plugin that was found and its state. Starts those that do not run."},
		{Name: "plugins.reset", Params: "{name}", Result: "{reset}",
			Meaning: "Takes a plugin out of quarantine."},
		{Name: "cancel", Params: "{id}", Result: "{canceled}",
			Meaning: "Cancels the request with this id, if it is not answered yet."},
	}
}

// Empty is the parameters or the result of a method that has none.
type Empty struct{}

// Of is embedded by the requests about a session. Doors find the session by it before they call the method.
type Of struct {
	Session string `json:"session"`
}

// Moment is a request about a session as it was at a moment.
type Moment struct {
	Of
	// UpTo leaves out what was added after it; nil leaves out nothing. A door sets it, not an agent.
	UpTo *host.Mark `json:"-"`
}

func (m *Moment) at(upTo *host.Mark) { m.UpTo = upTo }

func ofSession[R, A any](
	method func(*Session, context.Context, R) (A, error),
) func(func(any) error) (SessionCall, error) {
	return func(read func(any) error) (SessionCall, error) {
		var r R
		if err := read(&r); err != nil {
			return nil, err
		}
		return func(ctx context.Context, s *Session, upTo *host.Mark) (any, error) {
			if m, ok := any(&r).(interface{ at(*host.Mark) }); ok {
				m.at(upTo)
			}
			return method(s, ctx, r)
		}, nil
	}
}

func ofHost[R, A any](method func(*Service, context.Context, R) (A, error)) func(func(any) error) (HostCall, error) {
	return func(read func(any) error) (HostCall, error) {
		var r R
		if err := read(&r); err != nil {
			return nil, err
		}
		return func(ctx context.Context, s *Service) (any, error) { return method(s, ctx, r) }, nil
	}
}
