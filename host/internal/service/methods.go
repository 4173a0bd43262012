package service

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/thresh-dev/thresh/host"
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
	// doing has the types, and what is called.
	doing
}

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

// Methods returns all methods, in the order in which an agent meets them. 'thresh run --help', docs/api.md and
// openapi.json are made from it. The names and members are the contract with agents: they are added to, and never
// changed. It must not be changed.
var Methods = sync.OnceValue(func() []*Method {
	return []*Method{
		{Name: "initialize", Meaning: "Says what this thresh can do. Calling it is optional.", doing: byDoor[Empty, Info]()},
		{Name: "session.open", doing: byDoor[OpenRequest, OpenAnswer](),
			Meaning: "Opens a session: one conversation with its own history and settings. With sessions.store, a known id " +
				"continues where it was, even after a crash, with the settings and the system prompt it had. Over HTTP " +
				"an open session is continued too. A resuming agent sees from entries whether its last addition arrived."},
		{Name: "session.get", doing: ofSession((*Session).State),
			Meaning: "Returns the system prompt, and the size of the history."},
		{Name: "session.list", Only: Served, doing: byDoor[ListRequest, ListAnswer](),
			Meaning: "Returns the token's sessions, by id."},
		{Name: "session.setSystem", doing: ofSession((*Session).SetSystem),
			Meaning: "Sets the system prompt, which is kept apart from the history. It is a text or a list of text parts, " +
				"which may have other fields such as cache_control. No strategy sees it. Leave it out of pendingTokens."},
		{Name: "session.set", Order: InTurnOnceBegun, doing: ofSession((*Session).Set),
			Meaning: "Overrides one setting from the next window.prepare on. Once there are entries, a model with another " +
				"tokenizer is refused: they are counted when they are added."},
		{Name: "history.add", Order: AtOnce, Check: Stores, doing: ofSession((*Session).Add),
			Meaning: "Appends entries, or messages in a provider's form, all or none. The same key with the same entries " +
				"adds nothing and is answered as before, even after a restart or by another host of the store. The last " +
				"128 keys of a session are remembered; other entries under a known key are an error of kind entry."},
		{Name: "window.prepare", Check: Spends, doing: ofSession((*Session).Prepare),
			Meaning: "Makes the history fit the model and returns it: prunes it, compresses it over the threshold, and " +
				"makes room. Call it before every model call. With format, the result can be sent as it is. With since, the revision of the last result, " +
				"it has only what follows the first keep entries or messages of that. With openai-chat, system is among the " +
				"messages. " +
				"If it fails, the error has the unchanged history in prepared."},
		{Name: "history.compress", Check: Spends, doing: ofSession((*Session).Compress),
			Meaning: "Compresses the history now, regardless of the threshold."},
		{Name: "todos.set", doing: ofSession((*Session).SetTodos),
			Meaning: "Replaces the agent's task list, which summaries keep. Without it the host reads the list from calls " +
				"of known tools, such as TodoWrite and update_plan."},
		{Name: "usage.report", doing: ofSession((*Session).ReportUsage),
			Meaning: "Reports the provider's count of the last prepared request, to calibrate the host's counts."},
		{Name: "history.get", Lines: true, doing: ofSession((*Session).History),
			Meaning: "Returns the owned history, including what is not sent to a model."},
		{Name: "history.recorded", Order: AtOnce, doing: ofSession((*Session).Recorded), // it never changes
			Meaning: "Returns entries as they were added. Needs transcript.dir or sessions.store."},
		{Name: "history.search", doing: ofSession((*Session).Search),
			Meaning: "Finds by words what is no longer sent, the best passages first; or reads the lines of a place. Needs " +
				"sessions.store."},
		{Name: "history.explain", Order: AtOnce, Lines: true, doing: ofSession((*Session).Explain), // nor does this
			Meaning: "Returns what was done to an entry, or to all, in order. Needs sessions.store."},
		{Name: "session.watch", Only: Served, Lines: true, doing: byDoor[WatchRequest, Event](),
			Meaning: "Reports turns while they happen, until the caller leaves. The first line is {}: the watch has begun."},
		{Name: "session.close", Order: Last, doing: ofSession((*Session).close),
			Meaning: "Closes the session. If the transcript cannot be written, it stays open: make room and close it " +
				"again."},
		{Name: "session.delete", doing: byDoor[Of, Empty](),
			Meaning: "Closes the session, if it is open, and deletes what is kept of it."},
		{Name: "tokens.count", doing: ofHost((*Service).Count),
			Meaning: "Counts entries as history.add would, and adds nothing."},
		{Name: "messages.compress", doing: byDoor[CompressMessages, CompressedMessages](),
			Meaning: "Makes a whole conversation small without a session, as it did the last time, for the prompt cache."},
		{Name: "messages.retrieve", doing: byDoor[RetrieveRequest, RetrieveAnswer](),
			Meaning: "Gives back what messages.compress removed, while the conversation is kept."},
		{Name: "plugins.list", doing: ofHost((*Service).Plugins),
			Meaning: "Returns every plugin that was found and its state. Starts those that do not run."},
		{Name: "plugins.reset", Check: Local, doing: ofHost((*Service).ResetPlugin),
			Meaning: "Takes a plugin out of quarantine."},
		{Name: "plugins.lock", Check: Local, Only: Served, doing: ofHost((*Service).LockPlugins),
			Meaning: "Accepts the files of plugins as they are now."},
		{Name: "cancel", Only: Run, doing: byDoor[CancelRequest, CancelAnswer](),
			Meaning: "Cancels an unanswered request, which is then answered with an error of kind canceled."},
	}
})

// byName is Methods, found by name.
var byName = sync.OnceValue(func() map[string]*Method {
	all := map[string]*Method{}
	for _, m := range Methods() {
		all[m.Name] = m
	}
	return all
})

// At returns a door's methods.
func At(door Door) []*Method {
	return slices.DeleteFunc(slices.Clone(Methods()), func(m *Method) bool { return m.Only != 0 && m.Only != door })
}

// Find returns the method of a door with a name. The error lists them all: an agent's author sees it once.
func Find(door Door, name string) (*Method, error) {
	if m := byName()[name]; m != nil && (m.Only == 0 || m.Only == door) {
		return m, nil
	}
	var known []string
	for _, m := range At(door) {
		known = append(known, m.Name)
	}
	return nil, &RequestError{Status: http.StatusNotFound,
		Message: fmt.Sprintf("unknown method %.100q; want one of: %s", name, strings.Join(known, ", "))}
}

// Members describes the object that is sent or returned by its members; "?" marks one that may be absent.
func Members(t reflect.Type) string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		if f.Anonymous || tag == "-" || tag == "" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if options != "" {
			name += "?"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("{%s}", strings.Join(names, ", "))
}

// Empty is the parameters or the result of a method that has none.
type Empty struct{}

// Of is embedded by the requests about a session. Doors find the session by it before they call the method.
type Of struct {
	Session string `json:"session" jsonschema:"the session's id"`
}

func (o Of) about() string { return o.Session }

// Moment is a request about a session as it was at a moment.
type Moment struct {
	Of
	// UpTo leaves out what was added after it; nil leaves out nothing. A door sets it, not an agent.
	UpTo *host.Point `json:"-"`
}

func (m *Moment) at(upTo *host.Point) { m.UpTo = upTo }
