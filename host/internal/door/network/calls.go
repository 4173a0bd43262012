package network

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// Timeout is the header with a client's deadline: milliseconds from now. A call ends with it, and with its client.
const Timeout = "X-Thresh-Timeout-Ms"

// calls serves the methods of package service. Each looks its session up under the caller's name, so that the id of
// another caller's session is the same error as an id that does not exist.
type calls struct {
	host    *host.Host
	service *service.Service
	guard   *access.Guard
	alone   *proxy.Server
	log     hclog.Logger
	// ending is closed when the server ends. Watches end with it.
	ending <-chan struct{}
	// plain says that answers are never compressed: within one machine that takes longer than sending.
	plain bool
}

func (s *calls) handler(m *api.Method) http.HandlerFunc {
	return s.serve(m, func(ctx context.Context, c *caller, r *http.Request, a *answerer) (any, error) {
		return s.call(ctx, c, m, r.Body, a)
	})
}

// serve answers by a function, under the name of a method.
func (s *calls) serve(m *api.Method,
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
		return r.Context(), func() {}, api.Refuse(Timeout, Timeout+" must be a number of milliseconds above 0")
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(ms)*time.Millisecond)
	return ctx, cancel, nil
}

// call reads a request and calls its method. What comes in lines is written here, everything else returned.
func (s *calls) call(ctx context.Context, c *caller, m *api.Method, body io.Reader, a *answerer) (any, error) {
	params, err := service.Read(m, body)
	if err != nil {
		return nil, err
	}
	if m.Check == api.Local && c.grant.Name != "" {
		return nil, errNotLocal
	}
	id := service.SessionOf(params)
	c.session = id // for the log
	on := s.target(c)
	if m.About == api.ASession {
		if on.Session, err = s.service.Find(ctx, c.grant.Name, id, m.Reads); err != nil {
			return nil, err
		}
	}
	switch m.Check {
	case api.Stores:
		err = s.guard.CheckStore(ctx, c.grant)
	case api.Spends:
		err = s.guard.CheckSpending(ctx, c.grant)
	}
	if err != nil {
		return nil, err
	}
	if m.Endless {
		var leave context.CancelCauseFunc
		ctx, leave = context.WithCancelCause(ctx)
		defer leave(nil)
		// Without this a watch would keep the server from ending until drain is over.
		go func() {
			select {
			case <-s.ending:
				leave(errEnding)
			case <-ctx.Done():
			}
		}()
	}
	result, err := m.Call(ctx, on, params)
	if opened, ok := result.(api.OpenAnswer); ok && err == nil {
		c.session = opened.Session // the host made it if the request had none
	}
	if err != nil || !m.Lines {
		return result, err
	}
	return nil, a.result(ctx, result)
}

// target is what methods are called on for a caller, but for a session.
func (s *calls) target(c *caller) api.Target {
	return api.Target{Alone: s.alone.Alone(c.grant), Host: &service.Caller{
		Host: s.host, Service: s.service, Door: api.Served, Owner: c.grant.Name, From: c.from, Log: s.log,
		Limits:  api.Limits{RequestBytes: most(c.grant), Unanswered: c.grant.Limits.Requests},
		MayOpen: func(ctx context.Context, open int) error { return s.guard.CheckSessions(ctx, c.grant, open) },
	}}
}
