package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
)

const faulty = "host/internal/plugins/testdata/faulty"

// pluginDir holds the strategies of the tests.
var pluginDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "proxy")
		if err == nil {
			defer os.RemoveAll(dir)
			err = errors.Join(
				binaries.Strategies(dir, "distill", "high-density", "top-down-truncation", "middle-out", "one-shot"),
				binaries.Plugins(dir, map[string]string{"exits-in-calls": faulty, "exits-in-calls-by-threshold": faulty}))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pluginDir = dir
		return m.Run()
	}())
}

// standing is a proxy between a client and a model server.
type standing struct {
	proxy *proxy.Server
	url   string
	store string // for tests that stand another one behind it
	end   func()
}

// stand puts a proxy in front of a server. set is settings as --set has them, over high-density.
func stand(t testing.TB, upstream string, set map[string]any, change ...func(*proxy.Options)) *standing {
	t.Helper()
	chosen := map[string]any{"compression.strategy": "high-density"}
	maps.Copy(chosen, set)
	c := settings.Load(t, pluginDir, chosen)
	var options proxy.Options
	o := window.Options{Config: c, Logger: hclog.NewNullLogger(), Keep: true,
		Granted: func(ctx context.Context, token string) ([]string, error) {
			return options.Guard.Profiles(ctx, token)
		}}
	if c.Settings().Sessions.Store == "memory" {
		o.Store = store.NewMemory()
	}
	h, err := window.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	address := func(path string) *url.URL {
		u, err := url.Parse(upstream + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	options = proxy.Options{Host: h, Logger: hclog.NewNullLogger(),
		Upstreams: proxy.Upstreams{Anthropic: address(""), OpenAI: address("/v1"), Gemini: address("")}}
	for _, f := range change {
		f(&options)
	}
	p := proxy.New(options)
	s := httptest.NewServer(p)
	end := func() { s.Close(); p.Close(); _ = h.Close() }
	t.Cleanup(end)
	return &standing{proxy: p, url: s.URL, end: end}
}

// provider starts a model server that ends with the test.
func provider(t testing.TB, o modelapi.Options) *modelapi.Server {
	s := modelapi.New(o)
	t.Cleanup(s.Close)
	return s
}
