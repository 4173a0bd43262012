package proxy

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
)

// Which requests may be one conversation. Too narrow an identity costs savings, because the beginning is not found;
// too wide a one only costs the search: what decides is whether the items are the same.

// identity names the conversation that a request belongs to. Requests with equal keys are searched for a common
// beginning, and no others.
type identity struct {
	key string
	// scope begins the key: whose it is, and which API of which provider.
	scope string
	// owner is the name of the client's token; "" is the local user.
	owner string
	// name begins the ids of the sessions: what a person can find again. client is what the client calls the
	// conversation; "" if it sends no id.
	name, client string
	// named: a person chose the name, and can give it to other programs.
	named bool
	// shared: other conversations may have the same identity.
	shared bool
	// alone: it is of messages without a request, and its name is made of how they begin.
	alone bool
	// parent is the key of the conversation that began this one, such as that of a subagent; "" if there is none.
	parent string
}

// clientHeaders are the headers in which clients send an id of their conversation. The first that is present counts.
// Their values are not secret and may stand in file names.
var clientHeaders = []struct {
	id, client string
	// parent has the id of the conversation that began this one, which is a subagent's then.
	parent string
}{
	{"X-Claude-Code-Session-Id", "claude", ""}, // subagents have an id of their own too: see identify
	{"Thread-Id", "codex", "X-Codex-Parent-Thread-Id"}, {"Session-Id", "codex", ""},
	{"X-Session-Id", "opencode", "X-Parent-Session-Id"}, {"X-Session-Affinity", "opencode", "X-Parent-Session-Id"},
}

// identify returns the identity of a request: what the user set, else what its client says, else who sends it where. It
// never depends on the system prompt, which differs between requests of one conversation and is the same in others.
func (s *Server) identify(x *exchange, h http.Header, r *body.Request) identity {
	if x.alone != nil {
		return x.alone.identity
	}
	// An id is a client's own: the same one of another user, for another API or another provider is another
	// conversation. NUL cannot occur in a header.
	owner := x.grant.Name
	scope := strings.Join([]string{owner, x.profile.name, string(x.route.api),
		x.upstream(), ""}, "\x00")
	if id := h.Get(mcp.SessionHeader); id != "" {
		return identity{owner: owner, scope: scope, key: scope + "thresh\x00" + id, name: printable(id), named: true}
	}
	for _, c := range clientHeaders {
		id := h.Get(c.id)
		if id == "" {
			continue
		}
		client := scope + c.client + "\x00"
		i := identity{owner: owner, scope: scope, key: client + id, name: c.client + "-" + printable(id), client: id}
		if parent := h.Get(c.parent); parent != "" && parent != id {
			i.parent = client + parent
		}
		// A subagent has its client's session, and a conversation of its own.
		if agent := h.Get("X-Claude-Code-Agent-Id"); agent != "" {
			i.parent = i.key
			i.key, i.name = i.key+"\x00"+agent, i.name+"-"+printable(agent)
		}
		return i
	}
	if r.SessionID != "" {
		return identity{owner: owner, scope: scope, key: scope + "body\x00" + r.SessionID, name: printable(r.SessionID)}
	}
	// With a secret of this process, so that a key of the map does not give away a hash of a credential.
	mac := hmac.New(sha256.New, s.secret)
	// All headers are hashed, also absent ones, so that a key in one header is not the same as in another.
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		mac.Write([]byte(h.Get(name) + "\x00"))
	}
	sum := hex.EncodeToString(mac.Sum(nil))
	return identity{owner: owner, scope: scope, key: scope + "credential\x00" + sum, name: string(x.route.api), shared: true}
}

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
