package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"iter"
	"math"
	"net"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/thresh-dev/thresh/internal/lazyregexp"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Options of a client. The zero value is for a Unix socket.
type Options struct {
	// Token is the access token; a Unix socket needs none.
	Token string
	// TLS is for an address that begins with https://; nil trusts the system's authorities.
	TLS *tls.Config
}

// Client calls one host. Make one with [New] and share it: all requests go over one connection.
type Client struct {
	rpc  sessionv1.SessionServiceClient
	conn *grpc.ClientConn
}

// window is how much of an answer may be in transit, in bytes. A fixed one spares gRPC's pings to measure the
// connection, which cost as much as a turn's own messages.
const window = 8 << 20

// reconnect is for a host that restarts: until the next attempt, requests fail at once.
var reconnect = backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}

// local is an address without a scheme on this machine.
var local = lazyregexp.New(`^(localhost|127(\.\d+){3}|\[::1\]):`)

// New makes a client for http://HOST:PORT, https://HOST:PORT or unix:PATH. HOST:PORT is http on this machine, and
// otherwise https: no token leaves the machine in the clear unless the address says http://. It does not connect yet.
func New(address string, o Options) (*Client, error) {
	options := []grpc.DialOption{
		grpc.WithPerRPCCredentials(bearer(o.Token)),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)), // one entry may be of any size
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 20 * time.Second}),
		// Only the address decides which host this is, not the environment or DNS.
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
	}
	host := "localhost"
	transport := insecure.NewCredentials()
	if path, isPath := strings.CutPrefix(address, "unix:"); isPath {
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	} else {
		if !strings.Contains(address, "://") {
			scheme := "https://"
			if local().MatchString(address) {
				scheme = "http://"
			}
			address = scheme + address
		}
		u, err := url.Parse(address)
		if err != nil || u.Port() == "" || strings.Trim(u.Path, "/") != "" ||
			u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("address %q: want HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH", address)
		}
		if host = u.Host; u.Scheme == "https" {
			transport = credentials.NewTLS(o.TLS)
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+host, append(options, grpc.WithTransportCredentials(transport))...)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	return &Client{sessionv1.NewSessionServiceClient(conn), conn}, nil
}

// Close closes the connection. Sessions are not closed.
func (c *Client) Close() { _ = c.conn.Close() }

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b == "" {
		return nil, nil
	}
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity is false: a loopback address has none.
func (bearer) RequireTransportSecurity() bool { return false }

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
	request := &sessionv1.OpenRequest{Session: o.ID, Settings: o.Settings}
	if o.System != "" {
		request.System = &sessionv1.System{Prompt: &sessionv1.System_Text{Text: o.System}}
	}
	opened, err := c.rpc.Open(ctx, request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return &Session{rpc: c.rpc, id: opened.GetSession()}, nil
}

// Sessions returns the ids of the token's sessions, in order. It ends at the first error.
func (c *Client) Sessions(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for after, more := "", true; more; {
			page, err := c.rpc.List(ctx, &sessionv1.ListRequest{After: after})
			if err != nil {
				yield("", failure(ctx, err))
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

// Delete removes a session, open or not, and everything stored of it.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.rpc.Delete(ctx, &sessionv1.DeleteRequest{Session: id})
	return failed(ctx, err)
}
