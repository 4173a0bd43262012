package stdio

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// Method is one JSON-RPC method. A method has either call or free; session.open and session.delete have neither.
type Method struct {
	// Name is what requests call it by; the part before the dot is what it is about.
	Name string
	// Params and Result describe the objects that are sent and returned; "?" marks an optional member.
	Params, Result string
	// Meaning says what the method does.
	Meaning string

	// call starts one request. It is nil for session.open, which makes the session that the other methods need, and for
	// session.delete, which needs none.
	call func(*request)
	// free starts one request of a method that is about no session; nil for the others.
	free func(ctx context.Context, s *server, params json.RawMessage) (any, error)
	// holds says that the method runs when those before it have ended, and that those after it wait for it.
	holds bool
}

// The methods that need no open session.
const (
	nameOpen   = "session.open"
	nameDelete = "session.delete"
)

// Methods returns all methods, in the order in which an agent meets them. 'thresh run --help' prints this table. The
// names and members are the contract with agents: they are added to, and never changed.
func Methods() []Method {
	return []Method{
		{Name: "initialize", Params: "{}", Result: "{name, version, methods, strategies, limits}",
			free:    free(initialize),
			Meaning: "Says what this thresh can do. Calling it is optional."},
		{Name: nameOpen, Params: "{id?, settings?, system?}", Result: "{session, revision, tokens, entries}",
			Meaning: "Opens a session, and returns its id and size. Settings override those of the host, by key." +
				" system is the system prompt. With sessions.store, a session with a known id goes on where it was."},
		{Name: "session.get", Params: "{session}", Result: "{session, system, systemTokens, entries, tokens, revision}",
			call: inTurn(getSession), Meaning: "Returns the system prompt, and the size of the history."},
		{Name: "session.setSystem", Params: "{session, system}", Result: "{tokens}", call: inTurn(setSystem),
			Meaning: "Sets the system prompt, which is kept apart from the history; null removes it. Returns what it " +
				"counts."},
		{Name: "session.set", Params: "{session, key, value}", Result: "{}", call: setInTurn,
			Meaning: "Overrides one setting from the next window.prepare on; null removes the override."},
		{Name: "history.add", Params: "{session, entries, opaque?, key?} or {session, messages, format, system?, key?}",
			Result: "{revision, tokens}", call: now(add),
			Meaning: "Appends entries, or messages in the form anthropic, openai-chat or openai-responses, all or " +
				"none. Never waits for other methods." +
				" Requests that were sent before do not see the entries."},
		{Name: "window.prepare", Params: "{session, pendingTokens?, format?, since?}",
			Result: "{history, system?, tokens, revision, outcome}; with format messages in place of history",
			call:   inTurn(prepareWindow), Meaning: "Makes the history fit the model and returns it. Call it before " +
				"every model call. pendingTokens is what the request holds in addition to the history and the system " +
				"prompt of the " +
				"session, such as tool schemas. With format, the result can be sent as it is. With since, the " +
				"revision of the " +
				"last result, it has only what follows the first \"keep\" entries or messages of that."},
		{Name: "history.compress", Params: "{session}", Result: "{tokens, revision, outcome}",
			call:    inTurn(compressHistory),
			Meaning: "Compresses the history now, regardless of the threshold."},
		{Name: "todos.set", Params: "{session, todos}", Result: "{}", call: inTurn(setTodos),
			Meaning: "Replaces the agent's task list. Summaries keep why each unfinished task exists."},
		{Name: "usage.report", Params: "{session, promptTokens}", Result: "{}", call: inTurn(reportUsage),
			Meaning: "Reports the provider's count of the last prepared request, cached tokens included."},
		{Name: "history.get", Params: "{session}", Result: "{history, tokens, revision}", call: inTurn(get),
			Meaning: "Returns the owned history, including what is not sent to a model."},
		{Name: "history.recorded", Params: "{session, id}", Result: "{entries}", call: now(recorded),
			Meaning: "Returns what was added under the id of an entry or of a tool call. Needs transcript.dir or " +
				"sessions.store."},
		{Name: "history.explain", Params: "{session, id?}", Result: "{changes}", call: now(explain),
			Meaning: "Returns what became of an entry, or of all, and why. Needs sessions.store."},
		{Name: "session.close", Params: "{session}", Result: "{}", call: closeSession, holds: true,
			Meaning: "Closes the session. Its id can be used again; with sessions.store, it then goes on."},
		{Name: nameDelete, Params: "{session}", Result: "{}",
			Meaning: "Closes the session, if it is open, and deletes what is kept of it."},
		{Name: "tokens.count", Params: "{entries}", Result: "{tokens, each}", free: free(countTokens),
			Meaning: "Counts entries as history.add would, and adds nothing."},
		{Name: "plugins.list", Params: "{}", Result: "{plugins}", free: free(listPlugins),
			Meaning: "Returns every plugin that was found and its state. Starts those that do not run."},
		{Name: "plugins.reset", Params: "{name}", Result: "{reset}", free: free(resetPlugin),
			Meaning: "Takes a plugin out of quarantine."},
		{Name: "cancel", Params: "{id}", Result: "{canceled}", free: free(cancelRequest),
			Meaning: "Cancels the request with this id, if it is not answered yet."},
	}
}

// find returns the method with a name. The list is short, so that a map would gain nothing. The error lists all
// methods: an agent's author sees it once.
func find(name string) (Method, error) {
	var known []string
	for _, m := range Methods() {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return Method{}, &jsonrpc.Error{Code: jsonrpc.CodeUnknownMethod,
		Message: fmt.Sprintf("unknown method %q; want one of: %s", name, strings.Join(known, ", "))}
}
