package network

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Timeout is the header with a client's deadline: milliseconds from now. A call ends with it, and with its client.
const Timeout = "X-Thresh-Timeout-Ms"

// calls serves the methods of package service. Each looks its session up under the caller's name, so that the id of
// another caller's session is the same error as an id that does not exist.
type calls struct {
	service *service.Service
	guard   *access.Guard
	store   store.Sessions
	alone   *proxy.Server
	log     hclog.Logger
	// ending is closed when the server ends. Watches end with it.
	ending <-chan struct{}
	// plain says that answers are never compressed: within one machine that takes longer than sending.
	plain bool
}

func (s *calls) handler(m *service.Method) http.HandlerFunc {
	return s.serve(m, func(ctx context.Context, c *caller, r *http.Request, a *answerer) (any, error) {
		return s.call(ctx, c, m, r.Body, a)
	})
}

// serve answers by a function, under the name of a method.
func (s *calls) serve(m *service.Method,
	do func(context.Context, *caller, *http.Request, *answerer) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := callerOf(r.Context())
		c.method = m.Name
		ctx, cancel, err := timeout(r)
		defer cancel()
		a := &answerer{w: w, gzip: !s.plain && acceptsGzip(r)}
		var result any
		if err == nil {
			result, err = service.Do(s.service, m.Name, func() (any, error) { return do(ctx, c, r, a) })
		}
		c.outcome = "ok"
		switch {
		case err != nil:
			f := failure(ctx, result, err)
			c.outcome = string(f.Kind)
			a.fail(f)
		case !m.Lines:
			a.whole(http.StatusOK, result)
		}
		a.close()
	}
}

// timeout is the context of a request, with the deadline that its client has.
func timeout(r *http.Request) (context.Context, context.CancelFunc, error) {
	text := r.Header.Get(Timeout)
	if text == "" {
		return r.Context(), func() {}, nil
	}
	ms, err := strconv.ParseUint(text, 10, 32)
	if err != nil || ms == 0 {
		return r.Context(), func() {}, &service.RequestError{Field: Timeout,
			Message: Timeout + " must be a number of milliseconds above 0"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(ms)*time.Millisecond)
	return ctx, cancel, nil
}

// call reads a request and calls its method. What comes in lines is written here, everything else returned.
func (s *calls) call(ctx context.Context, c *caller, m *service.Method, body io.Reader, a *answerer) (any, error) {
	call, err := m.Read(body)
	if err != nil {
		return nil, err
	}
	if m.Check == service.Local && c.grant.Name != "" {
		return nil, errNotLocal
	}
	if m.ByDoor {
		return s.own(ctx, c, call, a)
	}
	var session *service.Session
	if m.OfSession {
		if err := c.about(call.Session); err != nil {
			return nil, err
		}
		if session, err = s.service.Find(ctx, c.grant.Name, call.Session); err != nil {
			return nil, err
		}
	}
	switch {
	case m.Check == service.Stores:
		err = s.guard.CheckStore(ctx, c.grant)
	case m.Check == service.Spends:
		err = s.guard.CheckSpending(ctx, c.grant)
	case m.Order == service.Last: // the session is the service's to close, which keeps it for other requests
		return service.Empty{}, s.service.Detach(c.grant.Name, call.Session)
	}
	if err != nil {
		return nil, err
	}
	// No mark: HTTP requests have no order among themselves, so what is there now counts.
	result, err := call.Run(ctx, s.service, session, nil)
	s.note(c, call, result)
	if err != nil || !m.Lines {
		return result, err
	}
	return nil, a.result(ctx, result)
}

// note logs what the local user changed for all: which plugins were reset or locked, also with an error about others.
func (s *calls) note(c *caller, call *service.Call, result any) {
	what, names := "", []string(nil)
	switch r := result.(type) {
	case service.ResetAnswer:
		if r.Reset {
			what, names = "plugin reset", []string{call.Params.(*service.ResetRequest).Name}
		}
	case service.LockAnswer:
		what, names = "plugin locked", r.Names
	}
	for _, name := range names {
		s.log.Info(what, "plugin", name, "by", "the local user", "from", c.from)
	}
}

// own calls the methods that are about which sessions are open, and about the caller.
func (s *calls) own(ctx context.Context, c *caller, call *service.Call, a *answerer) (any, error) {
	switch p := call.Params.(type) {
	case *service.Empty:
		info := s.service.Info(service.Served)
		info.Owner, info.Limits = c.grant.Name, service.Limits{RequestBytes: most(c.grant),
			Unanswered: c.grant.Limits.Requests}
		return info, nil
	case *service.OpenRequest:
		return s.open(ctx, c, *p)
	case *service.ListRequest:
		return s.list(ctx, c, *p)
	case *service.WatchRequest:
		return nil, s.watch(ctx, c, *p, a)
	case *service.CompressMessages:
		return s.alone.Compress(ctx, c.grant, *p)
	case *service.RetrieveRequest:
		return s.alone.Retrieve(ctx, c.grant, *p)
	case *service.Of: // session.delete, which loads nothing: the session may be one that can no longer be read
		if err := c.about(p.Session); err != nil {
			return nil, err
		}
		return service.Empty{}, s.service.Delete(ctx, c.grant.Name, p.Session)
	}
	return nil, errors.New("network: no " + call.Method.Name)
}

// open continues a session that is open or kept: a client that lost its connection cannot know whether it was closed.
// Unlike an addition it does not check the size of the store: a session without entries takes next to none.
func (s *calls) open(ctx context.Context, c *caller, r service.OpenRequest) (any, error) {
	if err := c.about(r.ID); err != nil {
		return nil, err
	}
	r.Owner = c.grant.Name
	// One that is open already costs nothing more.
	if _, err := s.service.Find(ctx, r.Owner, r.ID); err != nil {
		if host.ErrorOf(err).Kind == host.KindStore { // which is not asked once more
			return nil, err
		}
		// Two requests at the same time may both pass and exceed the limit by one: it protects memory and need not be
		// exact.
		if err := s.guard.CheckSessions(ctx, c.grant, len(s.service.Attached(r.Owner))); err != nil {
			return nil, err
		}
	}
	session, err := s.service.Attach(ctx, r)
	if err != nil {
		return nil, err
	}
	c.session = session.ID() // the host made it if the request had none
	return session.Opened()
}

// defaultPage is how many sessions a list has, unless the request says. There is no upper bound: a session in a list
// takes some hundred bytes.
const defaultPage = 100

// list returns what is in the store and, where nothing is stored, what is open. Both have the order of ids, so that the
// last id of a page is where the next one begins. Where a session is in both, the store's has more to say.
func (s *calls) list(ctx context.Context, c *caller, r service.ListRequest) (any, error) {
	if r.Limit <= 0 {
		r.Limit = defaultPage
	}
	owner := c.grant.Name
	if err := (store.Key{ID: r.After}).Check(); err != nil {
		return nil, err
	}
	found, last := map[string]service.Listed{}, ""
	// One more than the page, to know whether there are more.
	filter := store.Filter{Owner: owner, After: store.Key{Owner: owner, ID: r.After}, Limit: r.Limit + 1}
	for head, err := range s.store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		last = head.ID
		found[last] = service.Listed{Session: last, Entries: head.Entries, Tokens: head.Tokens, Bytes: head.Bytes,
			Created: head.Created.UTC(), Used: head.Used.UTC()}
	}
	beyond := len(found) > r.Limit // what comes after last is of the next page
	for _, session := range s.service.Attached(owner) {
		id := session.ID()
		if _, stored := found[id]; id <= r.After || stored || beyond && id > last {
			continue
		}
		size, err := session.Size(nil)
		if err != nil {
			return nil, err
		}
		found[id] = service.Listed{Session: id, Entries: size.Entries, Tokens: size.Tokens}
	}
	answer := service.ListAnswer{Sessions: []service.Listed{}}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if answer.More = len(answer.Sessions) == r.Limit; answer.More {
			break
		}
		answer.Sessions = append(answer.Sessions, found[id])
	}
	return answer, nil
}

// watch sends events until the caller or the server ends. Events that the caller does not take in time are dropped and
// counted in the next one's Missed: a slow watch must not hold up a turn.
func (s *calls) watch(ctx context.Context, c *caller, r service.WatchRequest, a *answerer) error {
	if err := c.about(r.Session); err != nil {
		return err
	}
	w := s.service.Watch(c.grant.Name, r.Session)
	defer w.Close()
	// The first line goes out at once, so that a caller can wait for it before it does what it wants to see.
	next := service.Event{}
	for {
		if next.Err != nil {
			next.Error = failure(context.Background(), nil, next.Err) // of another request
		}
		if err := a.line(next); err != nil {
			return err
		}
		select {
		case next = <-w.Events:
		// Without this a watch would keep the server from ending until drain is over.
		case <-s.ending:
			return errEnding
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
