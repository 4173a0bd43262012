package host

import (
	"context"
	"maps"
	"slices"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// Info says which thresh this is, and the strategies found. It starts no plugin.
func (h *Host) Info(context.Context) (api.Info, error) {
	return api.Info{Name: "thresh", Version: buildinfo.Version(), Methods: []string{},
		Strategies: append([]string{}, h.window.Strategies()...)}, nil
}

// Count counts entries as a session with the host's settings would. Like [Session.Add] it takes 10 to 120 ms per
// megabyte, and ends with ctx.
func (h *Host) Count(ctx context.Context, r api.CountRequest) (api.CountAnswer, error) {
	counted, err := h.window.Count(ctx, r.Entries)
	if err != nil {
		return api.CountAnswer{}, failed(err)
	}
	a := api.CountAnswer{Each: make([]int, counted.Len())}
	for i := range a.Each {
		a.Each[i] = counted.Tokens(i)
		a.Tokens += a.Each[i]
	}
	return a, nil
}

// Plugins describes every plugin found, broken ones with the reason. It starts those that do not run, and takes as long
// as that takes.
func (h *Host) Plugins(ctx context.Context) (api.PluginsAnswer, error) {
	return api.PluginsAnswer{Plugins: append([]outcome.Plugin{}, h.window.Plugins(ctx)...)}, nil
}

// ResetPlugin forgets the crashes of a plugin: the next call starts it again.
func (h *Host) ResetPlugin(_ context.Context, r api.ResetRequest) (api.ResetAnswer, error) {
	if r.Name == "" {
		return api.ResetAnswer{}, api.Refuse("name", `"name" is missing`)
	}
	return api.ResetAnswer{Reset: h.window.ResetPlugin(r.Name)}, nil
}

// LockPlugins accepts the files of plugins as they are now. With the setting plugins.integrity, only these run from then
// on.
func (h *Host) LockPlugins(ctx context.Context, r api.LockRequest) (api.LockAnswer, error) {
	locked, err := h.window.LockPlugins(ctx, r.Names...)
	return api.LockAnswer{Names: append([]string{}, slices.Sorted(maps.Keys(locked))...)}, failed(err)
}

// ReexecMain lets the host start its own program again: as a strategy that ships, and on Linux as a launcher that
// isolates a plugin. Call it first in main: in such a process it does not return, otherwise it does nothing. Package
// early does a part of it sooner, which makes plugins start faster.
func ReexecMain() { window.ReexecMain() }
