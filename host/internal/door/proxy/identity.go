package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
)

// identity names the conversation that a request belongs to. Requests with equal keys are searched for a common
// beginning, and no others.
type identity struct {
	key string
	// name begins the ids of the sessions: what a person can find again.
	name string
	// shared: other conversations may have the same identity.
	shared bool
	// parent is the key of the conversation that began this one, such as that of a subagent; "" if there is none.
	parent string
}

// clientHeaders are the headers in which clients send an id of their conversation, with the name of the client. The
// first that is present counts. Their values are not secret and may stand in file names.
var clientHeaders = [][2]string{
	{"X-Claude-Code-Session-Id", "claude"},
	{"Thread-Id", "codex"}, {"Session-Id", "codex"},
	{"X-Session-Id", "opencode"}, {"X-Session-Affinity", "opencode"},
}

// identify returns the identity of a request: what the user set, else what its client says, else who sends it where. It
// never depends on the system prompt, which differs between requests of one conversation and is the same in others.
func (s *Server) identify(x *exchange, h http.Header, r *body.Request) identity {
	// An id is a client's own: the same one of another user, for another API or another provider is another
	// conversation. NUL cannot occur in a header. The name is first, for ownedBy.
	scope := strings.Join([]string{x.grant.Name, x.profile.name, string(x.route.api),
		x.profile.upstreams.of(x.route.provider).String(), ""}, "\x00")
	if id := h.Get("X-Thresh-Session"); id != "" {
		return identity{key: scope + "thresh\x00" + id, name: printable(id)}
	}
	for _, c := range clientHeaders {
		if id := h.Get(c[0]); id != "" {
			i := identity{key: scope + c[1] + "\x00" + id, name: c[1] + "-" + printable(id)}
			// A subagent has its client's session, and a conversation of its own.
			if agent := h.Get("X-Claude-Code-Agent-Id"); agent != "" {
				i = identity{key: i.key + "\x00" + agent, name: i.name + "-" + printable(agent), parent: i.key}
			}
			return i
		}
	}
	if r.SessionID != "" {
		return identity{key: scope + "body\x00" + r.SessionID, name: printable(r.SessionID)}
	}
	// With a secret of this process, so that a key of the map does not give away a hash of a credential.
	mac := hmac.New(sha256.New, s.secret)
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		mac.Write([]byte(h.Get(name) + "\x00"))
	}
	sum := hex.EncodeToString(mac.Sum(nil))
	return identity{key: scope + "credential\x00" + sum, name: string(x.route.api), shared: true}
}

// ownedBy reports whether the conversation is of the token with this name; "" is the local user.
func (i identity) ownedBy(name string) bool { return strings.HasPrefix(i.key, name+"\x00") }

// printable is a client's id as it may stand in the id of a session, in file names and on terminals.
func printable(id string) string {
	id = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, id)
	// In bytes. The hash keeps long ids with a common beginning apart.
	const most = 64
	if len(id) > most {
		sum := sha256.Sum256([]byte(id))
		id = id[:most-9] + "-" + hex.EncodeToString(sum[:4])
	}
	return id
}
