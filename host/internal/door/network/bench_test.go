package network

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/sdk/content"
)

// pluginHost is a host with the shipped strategies and sessions in memory, served on a Unix socket.
func pluginHost(b *testing.B) (*host.Host, *client.Client) {
	b.Helper()
	dir := b.TempDir()
	if err := binaries.Strategies(dir); err != nil {
		b.Fatal(err)
	}
	c, err := config.Load(config.Options{WorkDir: b.TempDir(), Env: []string{}, Overrides: []config.Override{
		{Key: "plugins.dirs", Value: []string{dir}}, {Key: "plugins.lockFile", Value: ""},
		{Key: "plugins.isolation", Value: "off"}, {Key: "log.level", Value: "error"},
	}})
	if err != nil {
		b.Fatal(err)
	}
	h, err := host.Open(host.Options{Config: c})
	if err != nil {
		b.Fatal(err)
	}
	l, err := Listen("unix:" + filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	kept := store.NewMemory()
	go func() {
		ended <- Serve(ctx, l, nil, time.Second, Options{
			Host: h, Guard: access.NewGuard(kept, "", hclog.NewNullLogger()), Store: kept, Log: hclog.NewNullLogger(),
		})
	}()
	remote, err := client.New(URL(l, false), client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		remote.Close()
		cancel()
		<-ended
		_ = h.Close()
	})
	return h, remote
}

// turn is what an agent adds between two requests: a call, its response, and words.
func turn(n int) []content.Content {
	id := fmt.Sprint("c", n)
	text := strings.Repeat(fmt.Sprint("line ", n, " of a file\n"), 20)
	return []content.Content{
		{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: id, Name: "read_file",
			Parameters: []byte(fmt.Sprintf(`{"file_path":"f%d.go"}`, n))}}},
		{Speaker: content.Tool, Blocks: []content.Block{content.ToolResponse{CallID: id, ToolName: "read_file",
			Result: []byte(fmt.Sprintf("%q", text))}}},
		{Speaker: content.AI, Blocks: []content.Block{content.Text{Text: "I have read it."}}},
	}
}

func quantile(times []time.Duration, q float64) float64 {
	slices.Sort(times)
	return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1000
}

// BenchmarkPrepareThroughTheService compares turns of two sessions of the same length, in turn: one in process, one
// over HTTP on a Unix socket.
func BenchmarkPrepareThroughTheService(b *testing.B) {
	for _, length := range []int{300, 5000} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			h, remote := pluginHost(b)
			ctx := b.Context()
			settings := map[string]any{"model.contextLimit": 10_000_000}
			near, err := h.Open(ctx, api.OpenRequest{Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			far, err := remote.Open(ctx,
				api.OpenRequest{Settings: map[string]any{"model.contextLimit": "10000000"}})
			if err != nil {
				b.Fatal(err)
			}
			var all []content.Content
			for n := range length / 3 {
				all = append(all, turn(n)...)
			}
			add := func(entries ...content.Content) {
				if _, err := near.Add(ctx, api.Entries(entries...)); err != nil {
					b.Fatal(err)
				}
				if _, err := far.Add(ctx, api.Entries(entries...)); err != nil {
					b.Fatal(err)
				}
			}
			add(all...)
			var nearTimes, farTimes []time.Duration
			n := length
			for b.Loop() {
				n++
				add(turn(n)...)
				begin := time.Now()
				if _, err := near.Prepare(ctx, api.PrepareRequest{}); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				if _, err := far.Prepare(ctx, api.PrepareRequest{}); err != nil {
					b.Fatal(err)
				}
				nearTimes = append(nearTimes, between.Sub(begin))
				farTimes = append(farTimes, time.Since(between))
			}
			b.ReportMetric(quantile(nearTimes, 0.5), "inprocess-p50-ms")
			b.ReportMetric(quantile(farTimes, 0.5), "service-p50-ms")
		})
	}
}

// BenchmarkAppendThroughTheService is an addition of three entries over a Unix socket.
func BenchmarkAppendThroughTheService(b *testing.B) {
	_, remote := pluginHost(b)
	s, err := remote.Open(b.Context(), api.OpenRequest{Settings: map[string]any{"model.contextLimit": "10000000"}})
	if err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	for n := 0; b.Loop(); n++ {
		entries := turn(n)
		began := time.Now()
		if _, err := s.Add(b.Context(), api.Entries(entries...)); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	b.ReportMetric(quantile(times, 0.5), "append-p50-ms")
	b.ReportMetric(quantile(times, 0.99), "append-p99-ms")
}

// BenchmarkOpenThroughTheService opens new sessions over a Unix socket.
func BenchmarkOpenThroughTheService(b *testing.B) {
	_, remote := pluginHost(b)
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := remote.Open(b.Context(), api.OpenRequest{}); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
	}
	b.ReportMetric(quantile(times, 0.5), "open-p50-ms")
}

// BenchmarkManySessions is 500 agents on one service, each with a turn every two seconds, as fast models answer.
func BenchmarkManySessions(b *testing.B) {
	const sessions, pause = 500, 2 * time.Second
	_, remote := pluginHost(b)
	var (
		mu    sync.Mutex
		times []time.Duration
		all   sync.WaitGroup
	)
	// The plugin starts and the vocabulary is loaded before.
	if s, err := remote.Open(b.Context(), api.OpenRequest{}); err != nil {
		b.Fatal(err)
	} else if _, err := s.Add(b.Context(), api.Entries(turn(0)...)); err != nil {
		b.Fatal(err)
	} else if _, err := s.Prepare(b.Context(), api.PrepareRequest{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i := range sessions {
			all.Go(func() {
				time.Sleep(pause * time.Duration(i) / sessions) // they do not begin at once
				s, err := remote.Open(b.Context(), api.OpenRequest{})
				if err != nil {
					b.Error(err)
					return
				}
				for n := range 10 {
					if _, err := s.Add(b.Context(), api.Entries(turn(n)...)); err != nil {
						b.Error(err)
						return
					}
					begin := time.Now()
					if _, err := s.Prepare(b.Context(), api.PrepareRequest{}); err != nil {
						b.Error(err)
						return
					}
					mu.Lock()
					times = append(times, time.Since(begin))
					mu.Unlock()
					time.Sleep(max(0, pause-time.Since(begin)))
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(quantile(times, 0.5), "p50-ms")
	b.ReportMetric(quantile(times, 0.99), "p99-ms")
}
