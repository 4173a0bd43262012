package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A page in a browser can send requests to any address that its machine reaches, those on loopback included. Its
// requests have its Origin, or a Host that is a name of the page's.

// FromPage reports whether a web page of another origin made a browser send a request. Agents send no Origin. A page
// that is served under the same host and port may send requests.
func FromPage(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// LoopbackName reports whether a host name, with a port perhaps, is one of this machine. A name of a page that points
// to this machine (DNS rebinding) is none. Names are not resolved: what a name resolves to is what an attacker decides.
func LoopbackName(hostPort string) bool {
	name := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}
