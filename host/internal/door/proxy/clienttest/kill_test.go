package clienttest

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/body"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/internal/testkit/procs"
)

// The strategy is killed at each turn, and thresh serve with its proxy twice in the middle of an answer: the agent
// finishes all the same, and its conversation is one session, with every entry.
func TestAgentsFinishWhateverIsKilled(t *testing.T) {
	each(t, func(t *testing.T, c client) {
		p := newPlace(t)
		d := &daemon{t: t, place: p}
		plugins, services := 0, 0
		up := modelapi.New(modelapi.Options{Script: modelapi.FixIt(), Dir: p.project,
			Fault: func(n int) modelapi.Reply {
				for pid := range procs.BuiltIn(p.thresh()) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					plugins++
				}
				if (n == 3 || n == 6) && !c.noRetry {
					d.stop()
					d.start()
					services++
				}
				return modelapi.Reply{}
			}})
		defer up.Close()
		d.upstream = up.URL
		d.start()
		defer d.stop()
		e := p.run(t, c, d.url, "wrap", "--dry-run")
		d.stop()
		e.check(t, p, up)
		if c.continued {
			return
		}
		if plugins < 3 || services < 2 != c.noRetry {
			t.Errorf("%d plugins and %d services were killed", plugins, services)
		}
		all := p.sessions(t)
		sent := up.Models()
		// Nothing has to be removed of so short a conversation: what was sent last is all of it.
		if entries := entriesOf(t, sent[len(sent)-1]); len(all) != 1 || all[0].Entries != entries || entries < 10 {
			t.Errorf("%d entries were sent last; sessions: %+v", entries, all)
		}
	})
}

// entriesOf returns how many entries the conversation of a request has.
func entriesOf(t *testing.T, r *modelapi.Request) int {
	t.Helper()
	for part, api := range map[string]provider.API{"/messages": provider.Messages, "/chat/": provider.Chat,
		"/responses": provider.Responses, "enerateContent": provider.Gemini} {
		if strings.Contains(r.Path, part) {
			req, err := body.Index(api, r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return len(req.Entries(0))
		}
	}
	t.Fatal(r.Path)
	return 0
}

// daemon is thresh serve with its proxy, with sessions in a file.
type daemon struct {
	t             *testing.T
	place         place
	upstream, url string
	cmd           *exec.Cmd
}

// ports counts the ports that daemons were given, from 20,000: below those that the system gives to connections of other
// tests while a daemon is down.
var ports atomic.Int32

// start starts it: with the proxy on the port that it had, if it had one.
func (d *daemon) start() {
	listen := strings.TrimPrefix(d.url, "http://")
	for listen == "" {
		free, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+ports.Add(1)))
		if err == nil {
			listen = free.Addr().String()
			free.Close()
		}
	}
	d.cmd = exec.Command(d.place.thresh(), append([]string{"serve"}, flags(map[string]any{"plugins.isolation": "off",
		"sessions.store": d.place.storeIn(), "serve.listen": "127.0.0.1:0", "proxy.listen": listen,
		"proxy.upstreams.anthropic": d.upstream, "proxy.upstreams.openai": d.upstream + "/v1",
		"proxy.upstreams.gemini": d.upstream})...)...)
	d.cmd.Env, d.cmd.Dir = d.place.environ(""), d.place.home
	log, err := d.cmd.StderrPipe()
	if err == nil {
		err = d.cmd.Start()
	}
	if err != nil {
		d.t.Error(err)
		return
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "thresh: proxy at "); ok {
			d.url = url
			go func() {
				for lines.Scan() { // so that its log finds room
				}
			}()
			return
		}
	}
	d.t.Errorf("thresh serve did not start: %v", lines.Err())
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}
