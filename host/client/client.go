package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Options of a client. The zero value is for a Unix socket.
type Options struct {
	// Token is the access token; a Unix socket needs none.
	Token string
	// TLS is for an address that begins with https://; nil trusts the system's authorities.
	TLS *tls.Config
}

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

// Info is what a host can do, and what the token may.
type Info struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Methods    []string `json:"methods"`
	Strategies []string `json:"strategies"`
	Limits     struct {
		RequestBytes int `json:"requestBytes"`
		// Unanswered is how many requests may be in progress; 0 is no limit.
		Unanswered int `json:"unanswered"`
	} `json:"limits"`
	// Owner is the name of the token; "" is the local user.
	Owner string `json:"owner"`
}

// Initialize says what the host can do. Calling it is optional.
func (c *Client) Initialize(ctx context.Context) (Info, error) {
	return call[Info](ctx, c, "initialize", members{})
}

// OpenOptions describe a session. The zero value is a new session with a random id.
type OpenOptions struct {
	// ID is the session's, new or stored, in at most 512 bytes; "" is a random one.
	ID string
	// Settings override the host's, by key, with values as text.
	Settings map[string]string
	// System is the system prompt; "" leaves the session's.
	System string
}

// Open opens a session, or continues one: [Session.State] says where it is.
func (c *Client) Open(ctx context.Context, o OpenOptions) (*Session, error) {
	p := members{"id": o.ID, "settings": o.Settings}
	if o.System != "" {
		p["system"] = o.System
	}
	opened, err := call[struct{ Session string }](ctx, c, "session.open", p)
	if err != nil {
		return nil, err
	}
	return &Session{client: c, id: opened.Session}, nil
}

// SessionInfo is a session in a list. One that is not stored has no times and no bytes.
type SessionInfo struct {
	ID      string    `json:"session"`
	Entries int       `json:"entries"`
	Tokens  int       `json:"tokens"`
	Created time.Time `json:"created"`
	// Used is when something was last written.
	Used time.Time `json:"used"`
	// Bytes is what it takes in the store.
	Bytes int64 `json:"bytes"`
}

// Sessions returns the token's sessions, in the order of their ids. It ends at the first error.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		for after, more := "", true; more; {
			page, err := call[struct {
				Sessions []SessionInfo
				More     bool
			}](ctx, c, "session.list", members{"after": after})
			if err != nil {
				yield(SessionInfo{}, err)
				return
			}
			for _, s := range page.Sessions {
				if after = s.ID; !yield(s, nil) {
					return
				}
			}
			more = page.More && len(page.Sessions) > 0
		}
	}
}

// Delete removes a session, open or not, and everything stored of it.
func (c *Client) Delete(ctx context.Context, id string) error {
	return do(ctx, c, "session.delete", members{"session": id})
}

// Count counts entries as the host would, in tokens each, and adds nothing.
func (c *Client) Count(ctx context.Context, entries ...content.Content) ([]int, error) {
	counted, err := call[struct{ Each []int }](ctx, c, "tokens.count",
		members{"entries": append([]content.Content{}, entries...)})
	return counted.Each, err
}

// Plugins returns every plugin that was found. It starts those that do not run.
func (c *Client) Plugins(ctx context.Context) ([]outcome.Plugin, error) {
	found, err := call[struct{ Plugins []outcome.Plugin }](ctx, c, "plugins.list", members{})
	return found.Plugins, err
}

// ResetPlugin takes a plugin out of quarantine; false if it was never started. It is for the local user.
func (c *Client) ResetPlugin(ctx context.Context, name string) (bool, error) {
	answer, err := call[struct{ Reset bool }](ctx, c, "plugins.reset", members{"name": name})
	return answer.Reset, err
}

// LockPlugins accepts the files of plugins as they are now, of all if none is named, and returns which. It is for the
// local user.
func (c *Client) LockPlugins(ctx context.Context, names ...string) ([]string, error) {
	answer, err := call[struct{ Names []string }](ctx, c, "plugins.lock", members{"names": names})
	return answer.Names, err
}
