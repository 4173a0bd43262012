package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// A page in a browser can send requests to any address that its machine reaches, loopback included. It shows in
// Sec-Fetch-Site, which browsers send over https and to this machine, also with a GET; in the page's Origin; or in a
// Host that is a name of the page's.

// FromPage reports whether a browser sent a request for a web page of another origin. Agents send neither header. A
// page under the same host and port may send requests, and a user may enter an address.
func FromPage(r *http.Request) bool {
	// All values count: a reverse proxy may not take the first for the true one.
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

// Foreign reports whether a web page of another origin may have made a browser send a request. loopback: only this
// machine reaches the address; under any other name than this machine's, a page has made its own name point here.
func Foreign(r *http.Request, loopback bool) bool {
	return FromPage(r) || loopback && !LoopbackName(r.Host)
}

// LoopbackName reports whether a host name, perhaps with a port, is one of this machine. Names are not resolved: an
// attacker decides what a page's name resolves to (DNS rebinding).
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
