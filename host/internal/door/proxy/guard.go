package proxy

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
)

// A proxy on a loopback address can be reached by every program and, through a browser, by every web page on the
// machine, and it spends the user's money. So pages are refused by their headers, names that are not this machine's
// are refused, and other machines need a token.

// tokenHeader carries the client's token for the proxy. It is not Authorization, which holds the key of the provider.
const tokenHeader = "X-Thresh-Token"

// The parts of an address that are for the proxy alone, for clients that can set no header: /t/TOKEN and /p/PROFILE
// before the path of the API. No API has such paths.
const (
	tokenPart   = "/t/"
	profilePart = "/p/"
)

// Why a request is not served.
var (
	errPage  = errors.New("requests from web pages are refused")
	errHost  = errors.New("this proxy answers to localhost and loopback addresses only")
	errToken = errors.New("the request needs a valid token of this proxy: in the header " + tokenHeader +
		", or as /t/TOKEN at the beginning of the path")
)

// asked is what a request says to the proxy and not to the provider; "" where it says nothing.
type asked struct{ token, profile string }

// take removes from a request what is meant for the proxy, so that it is neither forwarded nor taken for a path of the
// API. The request's URL is replaced, as it belongs to the server's copy of the request.
func take(r *http.Request) asked {
	u := *r.URL
	var a asked
	// In any order: a part that were left in the path would go to the provider.
	for strings.HasPrefix(u.Path, tokenPart) || strings.HasPrefix(u.Path, profilePart) {
		a.token = cmp.Or(cut(&u, tokenPart), a.token)
		a.profile = cmp.Or(cut(&u, profilePart), a.profile)
	}
	r.URL = &u
	if header := r.Header.Get(tokenHeader); header != "" {
		a.token = header
	}
	r.Header.Del(tokenHeader)
	return a
}

// cut takes a part such as /t/TOKEN from the beginning of an address and returns what it names; "" if there is none.
func cut(u *url.URL, part string) string {
	rest, ok := strings.CutPrefix(u.Path, part)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	u.Path = rest[len(name):]
	// Where the name itself was escaped this leaves a raw path that does not fit, and is ignored. An escaped slash
	// behind it would leave one that is no path.
	if u.RawPath = strings.TrimPrefix(u.RawPath, part+name); !strings.HasPrefix(u.RawPath, "/") {
		u.RawPath = ""
	}
	return name
}

// admit decides whether a request may come in, finds out whom it is from, and counts it until end is called.
func (s *Server) admit(r *http.Request, token string) (from access.Grant, end func(), err error) {
	if from, err = s.who(r, token); err == nil {
		end, err = s.options.Guard.Begin(from)
	}
	return from, end, err
}

// who returns whom a request is from. The error says why it is not served, or is that of the store of tokens.
func (s *Server) who(r *http.Request, token string) (access.Grant, error) {
	if access.FromPage(r) {
		return access.Grant{}, errPage
	}
	// What is recalled was said in confidence, and every user of the machine reaches a loopback address.
	recalls := s.options.Recall != nil && r.URL.Path == mcp.Path
	if token != "" || recalls || !s.options.Open {
		// With a token the name in Host does not matter: a page does not know the token.
		grant, err := s.options.Guard.Who(r.Context(), token, r.RemoteAddr)
		if errors.Is(err, access.ErrRefused) {
			err = errToken
		}
		return grant, err
	}
	if !access.LoopbackName(r.Host) {
		return access.Grant{}, errHost
	}
	return access.Grant{}, nil
}
