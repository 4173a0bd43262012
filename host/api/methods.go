package api

import (
	"context"
	"iter"
	"reflect"
	"sync"
)

// Method is a method that agents call by name: a row of the contract. Its parameters and its result are Go types, sent
// as JSON by their tags.
type Method struct {
	// Name is what requests call it by; the part before the dot is what it is about.
	Name string
	// Meaning says what the method does.
	Meaning string
	// Order is its place among the requests of the same session, for a door that has an order.
	Order Order
	// Check is what a door with access tokens asks before it calls the method.
	Check Check
	// Only is the door that has the method; 0 is both.
	Only Door
	// Lines says that over HTTP the result comes in lines: objects whose lists continue from one to the next.
	Lines bool
	// Endless says that the lines come until the caller leaves: the result of Call is an iter.Seq2[any, error].
	Endless bool
	// Reads says that the method changes nothing: it can be called of a session that another door has open.
	Reads bool

	About          Subject
	Params, Result reflect.Type
	// Call calls the method of the target that it is about, with a pointer to the parameters. The result may come with an
	// error: what was done all the same, or the history as it is.
	Call func(ctx context.Context, on Target, params any) (any, error)
}

// Target is what methods are called on, as far as a door has it.
type Target struct {
	Host       Host[Session]
	Session    Session
	Alone      Alone
	Connection Connection
}

// Subject is what a method is about.
type Subject int

const (
	// TheHost: the method is about no session, or about which there are.
	TheHost Subject = iota
	// ASession: it is about the session that its parameters name, which is open or is opened for it.
	ASession
	// Opening: it opens a session, the one that [OpenRequest] names.
	Opening
	// Ending: it ends a session for good, which need not be open and may be one that can no longer be read.
	Ending
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

// Check says which limit of an access token a method may exceed, or who may call it.
type Check int

const (
	// Stores adds to what the token's sessions take in the store.
	Stores Check = iota + 1
	// Spends may call a model, which costs money.
	Spends
	// Local is for the local user: it concerns all users of the host.
	Local
)

// Door is a way in.
type Door int

const (
	// Run is standard input and output: thresh run.
	Run Door = iota + 1
	// Served is HTTP: thresh serve.
	Served
)

// Methods returns all methods, in the order in which an agent meets them. 'thresh run --help', docs/api.md, openapi.json
// and the types of the TypeScript client are made from it. It must not be changed.
var Methods = sync.OnceValue(func() []*Method {
	return []*Method{
		ofHost(Method{Name: "initialize", Meaning: "Says what this thresh can do. Calling it is optional."},
			asks[Empty](Host[Session].Info)),
		ofHost(Method{Name: "session.open", About: Opening,
			Meaning: "Opens a session: one conversation with its own history and settings. A known id continues " +
				"where it was, with its settings and its system prompt; with sessions.store even after a crash. Over HTTP " +
				"an open session is continued too. A resuming agent sees from entries whether its last addition arrived."},
			opened),
		ofSession(Method{Name: "session.get", Reads: true,
			Meaning: "Returns the system prompt, and the size of the history."},
			asks[Of](Session.State)),
		ofHost(Method{Name: "session.list", Only: Served,
			Meaning: "Returns the token's sessions, by id."},
			Host[Session].Sessions),
		ofSession(Method{Name: "session.setSystem",
			Meaning: "Sets the system prompt, which is kept apart from the history. It is a text or a list of text parts, " +
				"which may have other fields such as cache_control. No strategy sees it. Leave it out of pendingTokens."},
			Session.SetSystem),
		ofSession(Method{Name: "session.set", Order: InTurnOnceBegun,
			Meaning: "Overrides one setting from the next window.prepare on. Once there are entries, a model with another " +
				"tokenizer is refused: they are counted when they are added."},
			does(Session.Set)),
		ofSession(Method{Name: "history.add", Order: AtOnce, Check: Stores,
			Meaning: "Appends entries, or messages in a provider's form, all or none. The same key with the same entries " +
				"adds nothing and is answered as before, even after a restart or by another host of the store. The last " +
				"128 keys of a session are remembered; other entries under a known key are an error of kind entry."},
			Session.Add),
		ofSession(Method{Name: "window.prepare", Check: Spends,
			Meaning: "Makes the history fit the model and returns it: prunes it, compresses it over the threshold, and " +
				"makes room. Call it before every model call. With format, the result can be sent as it is. With since, the " +
				"revision of the last result, it has only what follows the first keep entries or messages of that. With " +
				"openai-chat, system is among the messages. " +
				"If it fails, the error has the unchanged history in prepared."},
			Session.Prepare),
		ofSession(Method{Name: "history.compress", Check: Spends,
			Meaning: "Compresses the history now, regardless of the threshold."},
			asks[Of](Session.Compress)),
		ofSession(Method{Name: "todos.set",
			Meaning: "Replaces the agent's task list, which summaries keep. Without it the host reads the list from calls " +
				"of known tools, such as TodoWrite and update_plan."},
			does(Session.SetTodos)),
		ofSession(Method{Name: "usage.report",
			Meaning: "Reports the provider's count of the last prepared request, to calibrate the host's counts."},
			does(Session.ReportUsage)),
		ofSession(Method{Name: "history.get", Lines: true, Reads: true,
			Meaning: "Returns the owned history, including what is not sent to a model."},
			asks[Of](Session.History)),
		ofSession(Method{Name: "history.recorded", Order: AtOnce, Reads: true, // it never changes
			Meaning: "Returns entries as they were added."},
			Session.Recorded),
		ofSession(Method{Name: "history.search", Reads: true,
			Meaning: "Finds by words what is no longer sent, the best passages first; or reads the lines of a place."},
			Session.Search),
		ofSession(Method{Name: "history.explain", Order: AtOnce, Lines: true, Reads: true, // nor does this
			Meaning: "Returns what was done to an entry, or to all, in order."},
			Session.Explain),
		ofHost(Method{Name: "session.watch", Only: Served, Lines: true, Endless: true,
			Meaning: "Reports turns while they happen, until the caller leaves. The first line is {}: the watch has begun."},
			streams(Host[Session].Watch)),
		ofSession(Method{Name: "session.close", Order: Last,
			Meaning: "Closes the session. If the transcript cannot be written, it stays open: make room and close it " +
				"again."},
			ends(Session.Close)),
		ofHost(Method{Name: "session.delete", About: Ending,
			Meaning: "Closes the session, if it is open, and deletes what is kept of it."},
			does(Host[Session].Delete)),
		ofHost(Method{Name: "tokens.count",
			Meaning: "Counts entries as history.add would, and adds nothing."},
			Host[Session].Count),
		ofAlone(Method{Name: "messages.compress",
			Meaning: "Makes a whole conversation small without a session, as it did the last time, for the prompt cache."},
			Alone.Compress),
		ofAlone(Method{Name: "messages.retrieve",
			Meaning: "Gives back what messages.compress removed, while the conversation is kept."},
			Alone.Retrieve),
		ofHost(Method{Name: "plugins.list",
			Meaning: "Returns every plugin that was found and its state. Starts those that do not run."},
			asks[Empty](Host[Session].Plugins)),
		ofHost(Method{Name: "plugins.reset", Check: Local,
			Meaning: "Takes a plugin out of quarantine."},
			Host[Session].ResetPlugin),
		ofHost(Method{Name: "plugins.lock", Check: Local, Only: Served,
			Meaning: "Accepts the files of plugins as they are now."},
			Host[Session].LockPlugins),
		row(Method{Name: "cancel", Only: Run,
			Meaning: "Cancels an unanswered request, which is then answered with an error of kind canceled."},
			func(on Target) Connection { return on.Connection }, Connection.Cancel),
	}
})

// row completes a method: with a method expression, so that a row that nothing implements does not compile.
func row[S, R, A any](m Method, of func(Target) S, f func(S, context.Context, R) (A, error)) *Method {
	m.Params = reflect.TypeFor[R]()
	if m.Result == nil {
		m.Result = reflect.TypeFor[A]()
	}
	m.Call = func(ctx context.Context, on Target, params any) (any, error) { return f(of(on), ctx, *params.(*R)) }
	return &m
}

func ofSession[R, A any](m Method, f func(Session, context.Context, R) (A, error)) *Method {
	m.About = ASession
	return row(m, func(on Target) Session { return on.Session }, f)
}

func ofHost[R, A any](m Method, f func(Host[Session], context.Context, R) (A, error)) *Method {
	if m.Endless {
		m.Result = reflect.TypeFor[Event]()
	}
	return row(m, func(on Target) Host[Session] { return on.Host }, f)
}

func ofAlone[R, A any](m Method, f func(Alone, context.Context, R) (A, error)) *Method {
	return row(m, func(on Target) Alone { return on.Alone }, f)
}

// asks is a method without parameters but for the session, does one without a result, ends one with neither.
func asks[R, S, A any](f func(S, context.Context) (A, error)) func(S, context.Context, R) (A, error) {
	return func(s S, ctx context.Context, _ R) (A, error) { return f(s, ctx) }
}

func does[S, R any](f func(S, context.Context, R) error) func(S, context.Context, R) (Empty, error) {
	return func(s S, ctx context.Context, r R) (Empty, error) { return Empty{}, f(s, ctx, r) }
}

func ends[S any](f func(S, context.Context) error) func(S, context.Context, Of) (Empty, error) {
	return func(s S, ctx context.Context, _ Of) (Empty, error) { return Empty{}, f(s, ctx) }
}

// opened answers with the size of the session that was opened.
func opened(h Host[Session], ctx context.Context, r OpenRequest) (OpenAnswer, error) {
	s, err := h.Open(ctx, r)
	if err != nil {
		return OpenAnswer{}, err
	}
	is, err := s.State(ctx)
	return OpenAnswer{s.ID(), is.Revision, is.Tokens, is.Entries}, err
}

// streams yields values of any type, for doors.
func streams[S, R, V any](f func(S, context.Context, R) iter.Seq2[V, error]) func(S, context.Context, R) (
	iter.Seq2[any, error], error) {
	return func(s S, ctx context.Context, r R) (iter.Seq2[any, error], error) {
		return func(yield func(any, error) bool) {
			f(s, ctx, r)(func(v V, err error) bool { return yield(v, err) })
		}, nil
	}
}
