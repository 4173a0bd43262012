package service

import (
	"context"
	"encoding/json"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// Service serves one host. It does not own it: close the host after the last request.
type Service struct {
	host     *host.Host
	watchers watchers
	attached attached
	observe  func(owner string, e Event)
}

// PublicHost returns the public API of a runtime, which doors use next to what that API does not promise. Closing either
// closes both.
func PublicHost(machine *window.Host) *host.Host { return window.Public(machine).(*host.Host) }

func New(h *host.Host) *Service {
	s := &Service{host: h}
	s.watchers.open = map[*Watcher]struct{}{}
	s.attached.byKey = map[key]*place{}
	return s
}

// Observe sets what is told of every turn of every owner's sessions; unlike a [Watcher] it never misses one. It must be
// quick. Call it before the first request.
func (s *Service) Observe(f func(owner string, e Event)) { s.observe = f }

// Info is what this thresh can do. Strategies are those whose plugins were found by name.
type Info struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Methods    []string `json:"methods"`
	Strategies []string `json:"strategies" jsonschema:"those whose plugins were found"`
	Limits     Limits   `json:"limits"`
	Owner      string   `json:"owner,omitempty" jsonschema:"the name of the access token"`
}

// Limits apply to a connection, or to an access token. Unanswered is 0 where there is no limit.
type Limits struct {
	RequestBytes int `json:"requestBytes" jsonschema:"the largest request"`
	Unanswered   int `json:"unanswered,omitempty"`
}

// Info describes this thresh as a door serves it. It starts no plugin.
func (s *Service) Info(door Door) Info {
	info := Info{
		Name: "thresh", Version: buildinfo.Version(),
		Strategies: append([]string{}, s.host.Strategies()...), // never null: agents need no check
	}
	for _, m := range At(door) {
		info.Methods = append(info.Methods, m.Name)
	}
	return info
}

// CountRequest has entries that belong to no session: the host's own settings decide how they are counted.
type CountRequest struct {
	Entries []json.RawMessage `json:"entries" jsonschema:"in the entry format"`
}

// CountAnswer has the tokens of each entry, in order; Each is never null.
type CountAnswer struct {
	Tokens int   `json:"tokens"`
	Each   []int `json:"each"`
}

// Count counts without a session, for an agent that decides what to add.
func (s *Service) Count(ctx context.Context, r CountRequest) (CountAnswer, error) {
	entries, err := decodeEntries(r.Entries)
	if err != nil {
		return CountAnswer{}, err
	}
	each, err := s.host.Count(ctx, entries...)
	if err != nil {
		return CountAnswer{}, err
	}
	a := CountAnswer{Each: append([]int{}, each...)}
	for _, n := range each {
		a.Tokens += n
	}
	return a, nil
}

// PluginsAnswer has broken plugins too, with their state and the reason.
type PluginsAnswer struct {
	Plugins []outcome.Plugin `json:"plugins" jsonschema:"as thresh plugins list -o json prints them"`
}

// Plugins starts each plugin, and takes as long as that takes.
func (s *Service) Plugins(ctx context.Context, _ Empty) (PluginsAnswer, error) {
	return PluginsAnswer{append([]outcome.Plugin{}, s.host.Plugins(ctx)...)}, nil
}

// ResetRequest names a strategy, as the list of plugins shows it.
type ResetRequest struct {
	Name string `json:"name" jsonschema:"the strategy"`
}

// ResetAnswer has false if the plugin was never started: there is nothing to forget.
type ResetAnswer struct {
	Reset bool `json:"reset" jsonschema:"false if it was never started"`
}

// ResetPlugin forgets the crashes of a plugin: the next call starts it again.
func (s *Service) ResetPlugin(_ context.Context, r ResetRequest) (ResetAnswer, error) {
	if r.Name == "" {
		return ResetAnswer{}, wrongRequest("name", `"name" is missing`)
	}
	return ResetAnswer{s.host.ResetPlugin(r.Name)}, nil
}

// LockRequest names strategies; none is all of them.
type LockRequest struct {
	Names []string `json:"names,omitempty" jsonschema:"strategies; absent for all"`
}

// LockAnswer has the locked strategies.
type LockAnswer struct {
	Names []string `json:"names"`
}

// LockPlugins accepts the files of plugins as they are now.
func (s *Service) LockPlugins(ctx context.Context, r LockRequest) (LockAnswer, error) {
	names, err := s.host.LockPlugins(ctx, r.Names...)
	return LockAnswer{append([]string{}, names...)}, err
}
