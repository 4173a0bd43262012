package service

import (
	"context"
	"errors"
	"iter"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Service serves one host. It does not own it: close the host after the last request.
type Service struct {
	host     *host.Host
	attached attached
}

// New makes the service of a host.
func New(h *host.Host) *Service {
	return &Service{host: h, attached: attached{byKey: map[key]*place{}}}
}

// Caller is a host as one of its callers has it through a door: [api.Target] takes it. Its sessions stay open between
// requests.
type Caller struct {
	*host.Host
	Service *Service
	Door    api.Door
	// Owner is the name of the access token, "" for the local user. From is where the caller is, for the log.
	Owner, From string
	Limits      api.Limits
	// MayOpen refuses one more session beside so many open ones. Nil refuses none.
	MayOpen func(ctx context.Context, open int) error
	Log     hclog.Logger
}

var _ api.Host[api.Session] = (*Caller)(nil)

// Info says what the caller can do.
func (c *Caller) Info(ctx context.Context) (api.Info, error) {
	info, err := c.Host.Info(ctx)
	for _, m := range At(c.Door) {
		info.Methods = append(info.Methods, m.Name)
	}
	info.Limits, info.Owner = c.Limits, c.Owner
	return info, err
}

// Open continues a session that is open or kept: a client that lost its connection cannot know whether it was closed.
// Unlike an addition it does not check the size of the store: a session without entries takes next to none.
func (c *Caller) Open(ctx context.Context, r api.OpenRequest) (api.Session, error) {
	r.Owner = c.Owner
	// One that is open already costs nothing more.
	if _, err := c.Service.Find(ctx, r.Owner, r.ID, false); err != nil && c.MayOpen != nil {
		if host.ErrorOf(err).Kind == api.KindStore { // which is not asked once more
			return nil, err
		}
		// Two requests at the same time may both pass and exceed the limit by one: it protects memory and need not be
		// exact.
		if err := c.MayOpen(ctx, c.Service.open(r.Owner)); err != nil {
			return nil, err
		}
	}
	return c.Service.attach(ctx, r)
}

func (c *Caller) Sessions(ctx context.Context, r api.ListRequest) (api.ListAnswer, error) {
	r.Owner = c.Owner
	return c.Host.Sessions(ctx, r)
}

func (c *Caller) Watch(ctx context.Context, r api.WatchRequest) iter.Seq2[api.Event, error] {
	r.Owner = c.Owner
	return func(yield func(api.Event, error) bool) {
		for e, err := range c.Host.Watch(ctx, r) {
			if e.Error != nil {
				e.Error = Public(FailureOf(nil, e.Error))
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Public leaves out where a store is, which is for the log.
func Public(e *api.Error) *api.Error {
	if _, fault := errors.AsType[*store.Fault](e); fault {
		public := *e
		public.Message, public.Err = store.Public(e), nil
		return &public
	}
	return e
}

func (c *Caller) Delete(ctx context.Context, of api.Of) error {
	return c.Service.delete(ctx, c.Owner, of.Session)
}

// ResetPlugin and LockPlugins concern all users of the host: who did it is logged, also with an error about others.
func (c *Caller) ResetPlugin(ctx context.Context, r api.ResetRequest) (api.ResetAnswer, error) {
	a, err := c.Host.ResetPlugin(ctx, r)
	if a.Reset {
		c.note("plugin reset", r.Name)
	}
	return a, err
}

func (c *Caller) LockPlugins(ctx context.Context, r api.LockRequest) (api.LockAnswer, error) {
	a, err := c.Host.LockPlugins(ctx, r)
	c.note("plugin locked", a.Names...)
	return a, err
}

func (c *Caller) note(what string, names ...string) {
	for _, name := range names {
		c.Log.Info(what, "plugin", name, "by", "the local user", "from", c.From)
	}
}
