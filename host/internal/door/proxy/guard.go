package proxy

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// tokenHeader carries the local token. It is removed before a request is forwarded. It is not Authorization, which
// holds the key of the provider.
const tokenHeader = "X-Thresh-Token"

// allowed reports why a request is not served, "" if it may be.
//
// A page in a browser can send requests to an address on loopback, also under a name that resolves to it. Its requests
// have its Origin, or a Host that is none of this machine.
func (s *Server) allowed(r *http.Request) string {
	// With a token the name does not matter: a page does not know it.
	if !localHost(r.Host) && s.options.Token == "" {
		return "this proxy answers to localhost and loopback addresses only"
	}
	if o := r.Header.Get("Origin"); o != "" {
		if u, err := url.Parse(o); err != nil || u.Host != r.Host {
			return "requests from web pages are refused"
		}
	}
	if t := s.options.Token; t != "" {
		// In constant time, so that answers do not tell how much of a guess is right.
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(tokenHeader)), []byte(t)) != 1 {
			return "the header " + tokenHeader + " does not hold this proxy's token"
		}
	}
	return ""
}

// localHost reports whether a Host header names this machine. The port does not matter. Names other than localhost are
// not resolved: DNS is what an attacker controls.
func localHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	return strings.EqualFold(name, "localhost") || net.ParseIP(name).IsLoopback()
}
