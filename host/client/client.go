package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
)

// Options of a client. The zero value is for a Unix socket.
type Options struct {
	// Token is the access token; a Unix socket needs none.
	Token string
	// TLS is for an address that begins with https://; nil trusts the system's authorities.
	TLS *tls.Config
}

var (
	_ api.Host[*Session] = (*Client)(nil)
	_ api.Alone          = (*Client)(nil)
	_ api.Session        = (*Session)(nil)
)

// Client calls one host. Make one with [New] and share it: its requests share connections.
type Client struct {
	base, token string
	http        *http.Transport
}

// local is an address without a scheme on this machine.
var local = lazyregexp.New(`^(localhost|127(\.\d+){3}|\[::1\]):`)

// idleConns is how many connections wait for the next requests: agents that share a client make theirs at one time.
const idleConns = 128

// dialTimeout is how long a host may take to accept a connection.
const dialTimeout = 20 * time.Second

// New makes a client for http://HOST:PORT, https://HOST:PORT or unix:PATH. HOST:PORT is http on this machine, and
// otherwise https: no token leaves the machine in the clear unless the address says http://. It does not connect yet.
func New(address string, o Options) (*Client, error) {
	// Only the address decides which host this is: no proxy of the environment has a say.
	dialer := &net.Dialer{Timeout: dialTimeout}
	t := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: o.TLS, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute}
	if path, isPath := strings.CutPrefix(address, "unix:"); isPath {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		}
		return &Client{"http://localhost", o.Token, t}, nil
	}
	full := address
	if !strings.Contains(address, "://") {
		if full = "https://" + address; local().MatchString(address) {
			full = "http://" + address
		}
	}
	u, err := url.Parse(full)
	if err != nil || u.Port() == "" || strings.Trim(u.Path, "/") != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("address %q: want HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH", address)
	}
	return &Client{u.Scheme + "://" + u.Host, o.Token, t}, nil
}

// Close closes the connections. Sessions are not closed.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Info says what the host can do, and what the token may. Calling it is optional.
func (c *Client) Info(ctx context.Context) (api.Info, error) {
	return call[api.Info](ctx, c, "initialize", api.Empty{})
}

// Open opens a session, or continues one, also one that is open: [Session.State] says where it is.
func (c *Client) Open(ctx context.Context, r api.OpenRequest) (*Session, error) {
	opened, err := call[api.OpenAnswer](ctx, c, "session.open", r)
	if err != nil {
		return nil, err
	}
	return &Session{client: c, of: api.Of{Session: opened.Session}}, nil
}

// Sessions returns a page of the token's sessions, in the order of their ids.
func (c *Client) Sessions(ctx context.Context, r api.ListRequest) (api.ListAnswer, error) {
	return call[api.ListAnswer](ctx, c, "session.list", r)
}

// Delete removes a session, open or not, and everything stored of it.
func (c *Client) Delete(ctx context.Context, of api.Of) error {
	return c.Call(ctx, "session.delete", of, nil)
}

// Count counts entries as the host would, and adds nothing.
func (c *Client) Count(ctx context.Context, r api.CountRequest) (api.CountAnswer, error) {
	return call[api.CountAnswer](ctx, c, "tokens.count", r)
}

// Plugins returns every plugin that was found. It starts those that do not run.
func (c *Client) Plugins(ctx context.Context) (api.PluginsAnswer, error) {
	return call[api.PluginsAnswer](ctx, c, "plugins.list", api.Empty{})
}

// ResetPlugin takes a plugin out of quarantine. It is for the local user.
func (c *Client) ResetPlugin(ctx context.Context, r api.ResetRequest) (api.ResetAnswer, error) {
	return call[api.ResetAnswer](ctx, c, "plugins.reset", r)
}

// LockPlugins accepts the files of plugins as they are now. It is for the local user.
func (c *Client) LockPlugins(ctx context.Context, r api.LockRequest) (api.LockAnswer, error) {
	return call[api.LockAnswer](ctx, c, "plugins.lock", r)
}

// Compress makes a whole conversation small, without a session: as the caller holds it, not what an earlier call
// returned. It is recognised by its content, so that what was sent before is sent again, and the provider's prompt cache
// is read.
func (c *Client) Compress(ctx context.Context, r api.CompressMessages) (api.CompressedMessages, error) {
	return call[api.CompressedMessages](ctx, c, "messages.compress", r)
}

// Retrieve returns a removed part.
func (c *Client) Retrieve(ctx context.Context, r api.RetrieveRequest) (api.RetrieveAnswer, error) {
	return call[api.RetrieveAnswer](ctx, c, "messages.retrieve", r)
}

// errLeft ends a watch whose caller has left the loop.
var errLeft = errors.New("left")

// Watch reports the turns of a session from now on, or with "" of all that the token has, until ctx ends or the loop is
// left. If the connection breaks, it watches again for some seconds.
func (c *Client) Watch(ctx context.Context, r api.WatchRequest) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		for until := time.Now().Add(tryFor); ; {
			err := lines(ctx, c, "session.watch", r, func(e api.Event) error {
				until = time.Now().Add(tryFor)
				if !yield(e, nil) {
					return &api.Error{Err: errLeft}
				}
				return nil
			})
			if errors.Is(err, errLeft) {
				return
			}
			e, ok := errors.AsType[*api.Error](err)
			if err != nil && (!ok || !e.Retryable || ctx.Err() != nil || time.Now().After(until)) {
				yield(api.Event{}, err)
				return
			}
		}
	}
}
