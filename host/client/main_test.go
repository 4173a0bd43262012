package client_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
)

func TestMain(m *testing.M) {
	host.ReexecMain()
	m.Run()
}

// serve serves a host on a Unix socket, as 'thresh serve' does, until done is called.
func serve(settings ...config.Override) (address string, done func()) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	c, err := config.Load(config.Options{ConfigFile: os.DevNull, Env: []string{},
		Overrides: append([]config.Override{{Key: "compression.strategy", Value: "top-down-truncation"}}, settings...)})
	must(err)
	log := hclog.NewNullLogger()
	machine, err := window.Open(window.Options{Config: c, Logger: log, Store: store.NewMemory(), Keep: true})
	must(err)
	dir, err := os.MkdirTemp("", "c")
	must(err)
	address = "unix:" + filepath.Join(dir, "s")
	l, err := network.Listen(address)
	must(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	guard := access.NewGuard(machine.Store(), "", log)
	alone := proxy.New(proxy.Options{Host: machine, Guard: guard, Recall: &proxy.Recall{}, Logger: log})
	go func() {
		ended <- network.Serve(ctx, l, nil, time.Second, network.Options{Host: host.Of(machine), Log: log,
			Guard: guard, Store: machine.Store(), Alone: alone})
	}()
	return address, func() {
		cancel()
		must(<-ended)
		alone.Close()
		must(machine.Close())
		must(os.RemoveAll(dir))
	}
}
