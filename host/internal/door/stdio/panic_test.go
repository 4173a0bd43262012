package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

// explosive is a store that panics in one call.
type explosive struct {
	store.Store
	armed string
}

func (e *explosive) blow(at string) {
	if e.armed == at {
		e.armed = ""
		panic("boom at " + at)
	}
}

func (e *explosive) Head(ctx context.Context, key store.Key) (store.Head, error) {
	e.blow("Head")
	return e.Store.Head(ctx, key)
}

func (e *explosive) Append(ctx context.Context, key store.Key, at store.Position, c store.Change) (store.Head, error) {
	h, err := e.Store.Append(ctx, key, at, c)
	e.blow("Append")
	return h, err
}

// conversation is a connection, whose requests wait for their replies.
type conversation struct {
	t   testing.TB
	in  io.Writer
	out *json.Decoder
	end func()
}

type answered struct {
	Result json.RawMessage
	Error  *struct {
		Message string
		Data    api.Error
	}
}

func converse(t testing.TB, h *host.Host) *conversation {
	in, w := io.Pipe()
	r, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), h, nil, in, out, hclog.NewNullLogger()); out.Close() }()
	end := sync.OnceFunc(func() {
		w.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return &conversation{t, w, json.NewDecoder(r), end}
}

func (c *conversation) ask(method string, params map[string]any) (r answered) {
	c.t.Helper()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err == nil {
		_, err = c.in.Write(append(text, '\n'))
	}
	if err == nil {
		err = c.out.Decode(&r)
	}
	if err != nil {
		c.t.Fatal(method, err)
	}
	return r
}

func (c *conversation) must(method string, params map[string]any) string {
	c.t.Helper()
	r := c.ask(method, params)
	if r.Error != nil {
		c.t.Fatal(method, r.Error.Message)
	}
	return string(r.Result)
}

var hello = []any{map[string]any{"speaker": "human", "blocks": []any{map[string]any{"type": "text", "text": "hello"}}}}

// A method that panics is an error of kind internal to its caller, a line with the stack in the log, and a number; the
// session goes on with what was acknowledged.
func TestAMethodThatPanics(t *testing.T) {
	kept := &explosive{Store: store.NewMemory()}
	var log bytes.Buffer
	measured := sdkmetric.NewManualReader()
	machine, err := window.Open(window.Options{
		Config: settings.Load(t, "", nil), Store: kept, Logger: hclog.New(&hclog.LoggerOptions{Output: &log}),
		Meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(measured)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = machine.Close() })
	c := converse(t, host.Of(machine))
	c.must("session.open", map[string]any{"id": "s"})
	c.must("history.add", map[string]any{"session": "s", "entries": hello})
	for _, call := range []struct {
		method, at string
		params     map[string]any
	}{
		{"history.add", "Append", map[string]any{"session": "s", "entries": hello}},
		{"session.set", "Append", map[string]any{"session": "s", "key": "compression.threshold", "value": 0.7}},
		{"session.get", "Head", map[string]any{"session": "s"}},
		{"session.open", "Head", map[string]any{"id": "other"}},
	} {
		kept.armed = call.at
		r := c.ask(call.method, call.params)
		if r.Error == nil || r.Error.Data.Kind != api.KindInternal || r.Error.Data.Retryable {
			t.Errorf("%s: %+v", call.method, r)
		}
		t.Log(r.Error.Message)
		c.must("session.get", map[string]any{"session": "s"})
	}
	c.must("session.open", map[string]any{"id": "other"})
	// What was written before the panic is there, as the log has it.
	if got := c.must("session.get", map[string]any{"session": "s"}); !strings.Contains(got, `"entries":2`) {
		t.Error(got)
	}
	if n := strings.Count(log.String(), "(*explosive).blow"); n != 4 {
		t.Errorf("%d stacks in the log:\n%s", n, log.String())
	}
	var all metricdata.ResourceMetrics
	if err := measured.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(all.ScopeMetrics); !strings.Contains(text, "thresh.panics") {
		t.Error(text)
	}
}

// The states that a session may be in when a method is called.
const (
	fresh = iota
	stored
	released // its memory
	deleted  // by another host
	branch
	states
)

// values are what a setting of a type is set to: one that is often right, one that never is, and none.
func values(s config.Spec) []any {
	right := any("x")
	switch {
	case s.Default != nil:
		right = fmt.Sprint(s.Default)
	case len(s.Allowed) > 0:
		right = s.Allowed[0]
	case s.Min != nil || s.Max != nil:
		right = "0.5"
	}
	return []any{right, []int{-1}, nil}
}

// calls are one call of every method of a session but session.open, with a setting for those that take one.
func calls(key string, value any) (all []string, params []map[string]any) {
	more := map[string]map[string]any{
		"session.set":       {"key": key, "value": value},
		"session.setSystem": {"system": "You fix bugs."},
		"history.add":       {"entries": hello},
		"todos.set":         {"todos": []any{map[string]any{"id": "1", "content": "fix", "status": "pending"}}},
		"usage.report":      {"promptTokens": 10},
		"history.recorded":  {"id": "e1"},
		"history.explain":   {"id": "e1"},
		"window.prepare":    {"format": "anthropic", "pendingTokens": 3, "since": 1},
	}
	for _, m := range service.At(api.Run) {
		if m.About != api.ASession || m.Name == "session.close" {
			continue
		}
		p := map[string]any{"session": "s"}
		for name, value := range more[m.Name] {
			p[name] = value
		}
		all, params = append(all, m.Name), append(params, p)
	}
	return all, params
}

// FuzzMethods calls every method twice with a setting in a state of the session, in an order that the input gives.
// Whatever the answers are, none is of a panic, and the id is free again in the end.
func FuzzMethods(f *testing.F) {
	dir := f.TempDir()
	if err := binaries.Strategies(dir, "top-down-truncation"); err != nil {
		f.Fatal(err)
	}
	var specs []config.Spec
	for _, s := range config.Specs() {
		if !s.PerHost() && s.Key != "transcript.dir" { // which would be written to
			specs = append(specs, s)
		}
	}
	for state := range states {
		for i := range specs {
			f.Add(uint8(state), uint8(i), uint8(i), uint8(7*i+state))
		}
	}
	kept := store.NewMemory()
	start := func(maxMemory string) *window.Host {
		machine, err := window.Open(window.Options{Store: kept, Logger: hclog.NewNullLogger(),
			Config: settings.Load(f, dir, map[string]any{
				"compression.strategy": "top-down-truncation", "sessions.maxMemory": maxMemory,
			})})
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { _ = machine.Close() })
		return machine
	}
	usual, forgetful := start("1000000000"), start("1")
	f.Fuzz(func(t *testing.T, state, setting, value, order uint8) {
		spec := specs[int(setting)%len(specs)]
		of := values(spec)
		v := of[int(value)%len(of)]
		machine := usual
		if state%states == released {
			machine = forgetful
		}
		in := func(use func(ask func(method string, params map[string]any))) {
			c := converse(t, host.Of(machine))
			use(func(method string, params map[string]any) {
				t.Helper()
				if r := c.ask(method, params); r.Error != nil && (strings.Contains(r.Error.Message, "panicked") ||
					strings.Contains(r.Error.Message, "cannot encode")) {
					t.Errorf("state %d, %s=%v: %s: %s", state%states, spec.Key, v, method, r.Error.Message)
				}
			})
			c.end()
		}
		for _, id := range []string{"s", "parent"} {
			_ = kept.Delete(t.Context(), store.Key{ID: id})
		}
		switch state % states {
		case stored, released:
			in(func(ask func(string, map[string]any)) {
				ask("session.open", map[string]any{"id": "s"})
				ask("history.add", map[string]any{"session": "s", "entries": hello})
			})
		case branch:
			in(func(ask func(string, map[string]any)) {
				ask("session.open", map[string]any{"id": "parent"})
				ask("history.add", map[string]any{"session": "parent", "entries": hello})
			})
			s, err := machine.Open(window.Opening{Key: store.Key{ID: "s"},
				Fork: &journal.Fork{Parent: "parent", At: 1, Entries: 1, Whole: true}})
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}
		in(func(ask func(string, map[string]any)) {
			// With the setting when it is opened and, if that is refused, without.
			ask("session.open", map[string]any{"id": "s", "settings": map[string]any{spec.Key: v}})
			ask("session.open", map[string]any{"id": "s"})
			methods, params := calls(spec.Key, v)
			for i := range 2 * len(methods) {
				if i == len(methods)/2 && state%states == deleted {
					_ = kept.Delete(t.Context(), store.Key{ID: "s"})
				}
				at := (int(order) + i*(1+int(order)%4)) % len(methods)
				ask(methods[at], params[at])
			}
			ask("session.open", map[string]any{"id": "s"})
		})
		s, err := machine.Open(window.Opening{Key: store.Key{ID: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	})
}
