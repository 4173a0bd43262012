package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
)

// upstreamsFor returns where requests are sent: where the agent would have sent them, as its variable or its
// configuration says, for that is what it has a key for; else what the user's settings say; else the provider. passed
// are the settings that are not used so; they decide where that address is unusable or not known. The error names the
// variable or the configuration with it.
func upstreamsFor(c *config.Config, w wrapping, in place) (up proxy.Upstreams, passed []string, err error) {
	set, own := c.Settings().Proxy.Upstreams, origins{}
	if w.origins != nil {
		own = w.origins(in)
	}
	for _, u := range []struct {
		variable
		value *string
	}{{anthropicURL, &set.Anthropic}, {openaiURL, &set.OpenAI}, {geminiURL, &set.Gemini}} {
		key := "proxy.upstreams." + u.upstream
		address, from, err := w.named(u.variable, own[u.upstream], in, key)
		if from != "" && !nearby(address) {
			i := slices.IndexFunc(config.Specs(), func(s config.Spec) bool { return s.Key == key })
			if _, bad := config.Specs()[i].Check(address); bad != nil {
				err = fmt.Errorf("%s: %w", from, bad)
			}
		}
		switch is := c.Origin(key).Layer != config.LayerDefault; {
		case err != nil && !is:
			return up, nil, err
		case err != nil || from == "":
			continue // a setting was checked when it was read
		case is && address != *u.value:
			passed = append(passed, fmt.Sprintf("%s is not used: %s has another address and the key for it", key, from))
		}
		*u.value = address
	}
	up, err = proxy.ParseUpstreams(set)
	return up, passed, err
}

// named returns the address of an upstream that the agent would have used, and what says so; "" if nothing does.
func (w wrapping) named(u variable, own origin, in place, key string) (address, from string, err error) {
	// All that are overwritten for the agent: any of them may be where its requests went.
	variables := w.variables
	if !w.unread {
		variables = append([]variable{u}, variables...)
	}
	for _, v := range variables {
		said := in.getenv(v.name)
		if said != "" && v.path != u.path { // the agent adds the version, which the upstream has
			said = strings.TrimSuffix(said, "/") + u.path
		}
		switch {
		case v.upstream != u.upstream || said == "":
		case from != "" && strings.TrimSuffix(said, "/") != strings.TrimSuffix(address, "/"):
			return "", "", fmt.Errorf("%s and %s name different addresses: unset one, or set %s", from, v.name, key)
		default:
			address, from = said, v.name
		}
	}
	// An agent with variables of its own reads its configuration where they are not set; claude's goes before.
	if from == "" || !w.variablesFirst {
		if own.err != nil {
			return "", "", fmt.Errorf("it is not known where %s would send its requests: %w; set %s to it",
				cmp.Or(w.command, "this command"), own.err, key)
		}
		if own.address != "" {
			address, from = own.address, own.where
		}
	}
	return address, from, nil
}

// nearby reports whether an address is http:// of a private network or of a name. A setting cannot name one, as keys
// are sent in the clear; the agent would have sent them there without thresh too.
func nearby(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err != nil || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}
