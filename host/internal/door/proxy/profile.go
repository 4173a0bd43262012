package proxy

import (
	"fmt"
	"net/url"
	"slices"
	"sync"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
)

// profile is what a request is served with: a profile of the configuration, or what is in force without one (name "").
type profile struct {
	name      string
	config    *config.Config // with the profile in force
	upstreams Upstreams
	of        *config.Config // what it was made from
}

// profiles are those that were asked for, by name: to work one out costs more than an edit. The zero value has none.
type profiles struct {
	mu    sync.Mutex
	known map[string]*profile
}

// mayChoose returns an error if a client may not choose a profile by its name; "" is none.
func (s *Server) mayChoose(of access.Grant, name string) error {
	if of.Name == "" || name == "" {
		return nil
	}
	by := config.Setter{Layer: config.LayerToken, Token: of.Name, Profiles: of.Profiles}
	return s.options.Host.Config().MaySet(by, "profile", name)
}

// profile returns a profile of the host's configuration as it is now. Upstreams that the profile does not set are the
// server's. The error says that there is no such profile, or what is wrong with it.
func (s *Server) profile(name string) (*profile, error) {
	now := s.options.Host.Config()
	if name == "" {
		return &profile{config: now, upstreams: s.options.Upstreams}, nil
	}
	s.profiles.mu.Lock()
	defer s.profiles.mu.Unlock()
	if p := s.profiles.known[name]; p != nil && p.of == now { // a reload makes another configuration
		return p, nil
	}
	if !slices.Contains(now.Profiles(), name) {
		return nil, fmt.Errorf("there is no profile %.40q in the configuration of thresh", name)
	}
	with, err := now.With("profile", name, "the address of the proxy")
	if err != nil {
		return nil, err
	}
	p := &profile{name: name, config: with, upstreams: s.options.Upstreams, of: now}
	own, err := ParseUpstreams(with.Settings().Proxy.Upstreams)
	if err != nil {
		return nil, err
	}
	for _, u := range []struct {
		key      string
		to, from **url.URL
	}{
		{"anthropic", &p.upstreams.Anthropic, &own.Anthropic}, {"openai", &p.upstreams.OpenAI, &own.OpenAI},
		{"gemini", &p.upstreams.Gemini, &own.Gemini},
	} {
		if with.Origin("proxy.upstreams."+u.key).Layer == config.LayerProfile {
			*u.to = *u.from
		}
	}
	if s.profiles.known == nil {
		s.profiles.known = map[string]*profile{}
	}
	s.profiles.known[name] = p
	return p, nil
}
