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

	"connectrpc.com/connect"

	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1/sessionv1connect"
)

// Options of a client. The zero value is for a Unix socket.
type Options struct {
	// Token is the access token; a Unix socket needs none.
	Token string
	// TLS is for an address that begins with https://; nil trusts the system's authorities.
	TLS *tls.Config
}

// Client calls one host.
type Client struct {
	rpc       sessionv1connect.SessionServiceClient
	transport *http.Transport
}

// New makes a client for an address: http://HOST:PORT, https://HOST:PORT or unix:PATH. It does not connect yet.
func New(address string, o Options) (*Client, error) {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, TLSClientConfig: o.TLS}
	if path, isPath := strings.CutPrefix(address, "unix:"); isPath {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		address = "http://localhost"
	}
	if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("address %q: want http://HOST:PORT, https://HOST:PORT or unix:PATH", address)
	}
	rpc := sessionv1connect.NewSessionServiceClient(&http.Client{Transport: bearer{transport, o.Token}}, address,
		connect.WithGRPC())
	return &Client{rpc, transport}, nil
}

// Close closes the connections. Sessions stay as they are.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// bearer adds the token to every request.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// OpenOptions describe a session. The zero value is a new session with a random id.
type OpenOptions struct {
	ID string
	// Settings override the host's, by key, with values as text.
	Settings map[string]string
	// System is the system prompt; "" leaves the one that the session has.
	System string
}

// Open opens a session, or goes on with one: [Session.State] says where it is.
func (c *Client) Open(ctx context.Context, o OpenOptions) (*Session, error) {
	request := &sessionv1.OpenRequest{Session: o.ID, Settings: o.Settings}
	if o.System != "" {
		request.System = &sessionv1.System{Prompt: &sessionv1.System_Text{Text: o.System}}
	}
	opened, err := c.rpc.Open(ctx, request)
	if err != nil {
		return nil, failure(err)
	}
	return &Session{rpc: c.rpc, id: opened.GetSession()}, nil
}

// Sessions returns the ids of the token's sessions, in order. It ends at the first error.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after, more := "", true; more; {
			page, err := c.rpc.List(ctx, &sessionv1.ListRequest{After: after})
			if err != nil {
				yield("", failure(err))
				return
			}
			for _, s := range page.GetSessions() {
				if after = s.GetSession(); !yield(after, nil) {
					return
				}
			}
			more = page.GetMore()
		}
	}
}

// Delete removes a session and everything that was stored of it, whether it is open or not.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.rpc.Delete(ctx, &sessionv1.DeleteRequest{Session: id})
	return failure(err)
}
