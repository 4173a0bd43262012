package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A page in a browser can send requests to any address that its machine reaches, those on loopback included. The
// browser says so in Sec-Fetch-Site, which it sends over https and to this machine, also with a GET; or the request has
// the page's Origin; or a Host that is a name of the page's.

// FromPage reports whether a web page of another origin made a browser send a request. Agents send neither header. A
// page that is served under the same host and port may send requests, and a user may enter an address.
func FromPage(r *http.Request) bool {
	// Each value counts: what stands before thresh may take another one than the first for the true one.
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" {
			return true
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host != r.Host || r.TLS != nil && u.Scheme != "https" {
			return true
		}
	}
	return false
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
