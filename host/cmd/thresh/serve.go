package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/watch"
	"github.com/thresh-dev/thresh/host/internal/metrics"
	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
	"github.com/thresh-dev/thresh/host/internal/plugins/install"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/buildinfo"
)

// The service: one host behind several doors, which share its sessions, tokens and plugins. This file opens and closes
// them in order, and decides who may connect.

const serveHelp = `Serves sessions to many agents over one address: POST /v1/METHOD, with the methods and the JSON of
'thresh run'. /v1/openapi.json describes them, and docs/api.md has examples.

serve.listen is HOST:PORT or unix:PATH. One line on standard error says where it listens, when it is
ready.

With proxy.listen it is also a proxy for the model APIs that existing agents call: docs/use-with.md
shows how.

On a loopback address, clients show the token in serve.tokenFile, which only you can read, or one of
'thresh access'. A Unix socket is open to you alone, and needs none. On any other address each
client needs a token of its own, and serve.tls.cert and serve.tls.key are required, unless you pass
--insecure, which lets everyone on the network read everything.

SIGTERM and SIGINT end it: requests in progress get serve.drain to finish. A second signal ends it
at once. SIGHUP reads the configuration again, for sessions that are opened from then on, and looks
for plugins again.`

func serveCommand(a *app) *cobra.Command {
	var insecure bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve sessions to many agents over a socket or a network, as JSON over HTTP",
		Long:  serveHelp,
		Example: `  thresh serve
  thresh serve --set serve.listen=unix:/run/user/1000/thresh.sock`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveNetwork(cmd, insecure) },
	}
	cmd.Flags().BoolVar(&insecure, "insecure", false,
		"serve other machines without TLS: conversations and tokens travel unencrypted")
	return cmd
}

// serveConfig loads the configuration of a service, which by default keeps sessions, and logs a line per request. The
// commands about sessions and access use it too, to find the store of a service that runs with the defaults. What a
// user has set is never changed.
func (a *app) serveConfig(cmd *cobra.Command) (*config.Config, error) {
	c, err := a.loadConfig(cmd)
	if err != nil {
		return nil, err
	}
	// A service without a store would lose sessions at every restart, and without a log no one could tell what it did.
	// A program that embeds the host has other defaults.
	for _, its := range []struct{ key, value string }{{"sessions.store", "sqlite"}, {"log.level", "info"}} {
		// The origin tells a default from the same value that a user has set.
		if c.Origin(its.key).Layer != config.LayerDefault {
			continue
		}
		if c, err = c.With(its.key, its.value, "thresh serve"); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// serveNetwork runs a host behind the network door until a signal arrives. What is opened is closed in the opposite
// order: the host before the store and the metrics that it writes to. It returns nil after a signal, and otherwise the
// first error of a door, which ends the others.
func (a *app) serveNetwork(cmd *cobra.Command, insecure bool) error {
	c, err := a.serveConfig(cmd)
	if err != nil {
		a.logger(config.LogOf(err))
		return err
	}
	set := c.Settings()
	log := a.logger(set.Log)
	if err := install.Lacking(set.Plugins); err != nil {
		return err
	}
	a.limitMemory(cmd.Context(), set.Sessions.MaxMemory)
	// A socket of systemd takes precedence over serve.listen, as it is open already.
	l, err := inheritedListener(a.getenv)
	if err == nil && l == nil {
		if err = checkListen(c, insecure); err == nil {
			l, err = network.Listen(set.Serve.Listen)
		}
	}
	if err != nil {
		return err
	}
	// network.Serve closes the listener, and closing it twice is harmless. This call is for the errors before that.
	defer l.Close()
	door, localToken, err := a.admission(l, "serve.listen", set.Serve, insecure)
	if err != nil {
		return err
	}
	measured, err := endpoint.New(a.metrics(log))
	if err != nil {
		return err
	}
	// Deferred first and so closed last: the host still takes measurements while it closes.
	defer measured.Close()
	machine, guard, err := a.openService(cmd, c, localToken, measured.Meter(), log)
	if err != nil {
		return err
	}
	doors, ctx := errgroup.WithContext(cmd.Context())
	seen, open := watch.New(machine, "serve", guard.Note), []*admission{door}
	if set.Proxy.Listen != "" {
		door, err := a.serveProxy(ctx, doors, proxy.Options{
			Host: machine, Guard: guard, Watch: seen, Logger: log.Named("proxy"),
		}, measured.Meter(), insecure)
		if err != nil {
			return errors.Join(err, machine.Close())
		}
		open = append(open, door)
	}
	requests, err := metrics.NewRequests(measured.Meter(), buildinfo.Version())
	if err != nil {
		return errors.Join(err, machine.Close())
	}
	alone := proxy.New(proxy.Options{Host: machine, Guard: guard, Watch: seen, Recall: &proxy.Recall{}, Logger: log})
	// h and machine are one host: h is its public API, which doors use, and machine is for what that API does not
	// promise.
	h, kept := host.Of(machine), machine.Store()
	defer a.onHangup(func() { a.reload(cmd, h, guard, open, log) })()
	a.say(hclog.Info, "serving at "+network.URL(l, door.certificate != nil))
	a.notify("READY=1")
	// systemd must hear of the end when it begins: a drain can take serve.drain, and a service that does not answer for
	// so long would look stuck. It is a door's work, as the program does not end before its doors have.
	doors.Go(func() error {
		<-ctx.Done()
		a.notify("STOPPING=1")
		return nil
	})
	ready := func(ctx context.Context) error { return cmp.Or(kept.Ready(ctx), machine.Check(machine.Config())) }
	// A door that fails cancels ctx, which ends the others: a service with half of its doors would look healthy.
	doors.Go(func() error {
		return network.Serve(ctx, l, door.certificate, set.Serve.Drain, network.Options{
			Host: h, Guard: guard, Store: kept, Alone: alone, Ready: ready, Recall: set.Proxy.Recall, Watch: seen,
			Metrics: measured.Handler(), Requests: requests, Log: log,
		})
	})
	err = doors.Wait()
	alone.Close()
	return errors.Join(err, guard.Close(), h.Close())
}

// openService opens a service's host, if its configuration can be used as a whole, and the guard of its doors. Named
// tokens are kept where sessions are: hosts which share a database share access tokens too.
func (a *app) openService(cmd *cobra.Command, c *config.Config, localToken string, meter metric.MeterProvider,
	log hclog.Logger) (machine *window.Host, guard *access.Guard, err error) {
	attach, err := a.attach(cmd)
	if err != nil {
		return nil, nil, err
	}
	machine, err = window.Open(window.Options{
		Config: c, Logger: log, Attach: attach, Meter: meter, Keep: true,
		Granted: func(ctx context.Context, token string) ([]string, error) { return guard.Profiles(ctx, token) },
		Book: func(ctx context.Context, name string, usd float64) (func(float64), error) {
			return guard.Book(ctx, name, usd)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	if err = machine.Check(c); err == nil {
		err = machine.CheckStart(cmd.Context())
	}
	if err != nil {
		return nil, nil, errors.Join(err, machine.Close())
	}
	guard = access.NewGuard(machine.Store(), localToken, log.Named("access"))
	return machine, guard, nil
}

// serveProxy adds the proxy to the doors of a host, at proxy.listen. Its clients are the service's: with the same
// tokens, or without one if only this machine can reach it. o is what they share. The proxy's server closes the
// listener; on an error it is closed here, and no door is added.
func (a *app) serveProxy(ctx context.Context, doors *errgroup.Group, o proxy.Options, meter metric.MeterProvider,
	insecure bool) (door *admission, err error) {
	set := o.Host.Config().Settings()
	if set.Proxy.Recall { // clients of many conversations come to one address
		o.Recall = &proxy.Recall{Named: true}
	}
	if o.Upstreams, err = proxy.ParseUpstreams(set.Proxy.Upstreams); err != nil {
		return nil, err
	}
	if o.Measured, err = metrics.NewProxy(meter, buildinfo.Version()); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", set.Proxy.Listen)
	if err != nil {
		return nil, fmt.Errorf("proxy.listen: %w", err)
	}
	if door, _, err = a.admission(l, "proxy.listen", set.Serve, insecure); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	// Open admits clients without a token: on a loopback address agents have no way to show one.
	o.Open, _ = network.Local(l.Addr())
	p := proxy.New(o)
	doors.Go(func() error {
		defer p.Close()
		return network.Run(ctx, p.Server(), l, door.certificate, set.Serve.Drain, o.Logger)
	})
	a.say(hclog.Info, "proxy at "+network.URL(l, door.certificate != nil))
	return door, nil
}

// reload reads the configuration again, on SIGHUP, with the files that prove who is who: a renewed certificate is shown
// from the next connection on, and a token file that was deleted is made again with another token. What is wrong is
// logged, and the host continues as it was. systemd waits for READY=1 after RELOADING=1, whether the reload succeeded or
// not.
func (a *app) reload(cmd *cobra.Command, h *host.Host, guard *access.Guard, open []*admission, log hclog.Logger) {
	a.notify("RELOADING=1\n" + monotonic())
	defer a.notify("READY=1")
	c, err := a.serveConfig(cmd)
	certificates, localToken := make([]*tls.Certificate, len(open)), ""
	for i, d := range open {
		certificate, token, failed := d.read()
		certificates[i], err = certificate, errors.Join(err, failed)
		if i == 0 { // the service's own address; the proxy shares its guard
			localToken = token
		}
	}
	if err == nil {
		err = h.Reload(c)
	}
	if err != nil {
		log.Error("the configuration was not reloaded", "error", err)
		return
	}
	for i, d := range open {
		if d.certificate != nil {
			d.certificate.Store(certificates[i])
		}
	}
	guard.SetLocal(localToken)
	log.Info("the configuration was reloaded")
}
