package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostile is what a plugin from a stranger does, or what is done to it, and what an agent gets to see of that.
type hostile struct {
	plugin string
	// set are settings of the host.
	set []string
	// before happens after a Prepare that went well, while happens during the one that is looked at.
	before, while func(*agent, hostile)
	// shortens says that the history is over the threshold, so that the plugin is to compress it.
	shortens bool
	// says is what the error of that Prepare says; without it there must be none.
	says []string
	// kind is the error's; "" is "plugin". retryable is what it says about trying again.
	kind      string
	retryable bool
	// noop is what the strategy says then instead of shortening the history.
	noop []string
}

// TestHostilePlugins is what an agent goes through with a plugin of each kind of fault: whatever happens, its history
// is as it was, other strategies serve on, and when it goes nothing is left. All the faults are tried in
// host/internal/plugins.
func TestHostilePlugins(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]hostile{
		"it cannot be started": {plugin: "exits-at-start", says: []string{"exit status 3", "cannot find my licence"}},
		"it is killed, and so is the next": {plugin: "waits-in-optimize", while: killTwice,
			says: []string{"signal: killed"}, retryable: true},
		"it is stopped": {plugin: "waits-in-optimize", set: []string{"plugins.optimizeTimeout=1s"}, while: stop,
			says: []string{"no answer within 1s"}},
		"its answer is wrong": {plugin: "out-of-bounds", says: []string{"out of bounds"}, kind: "answer"},
		"its file is another one when it is started again": {plugin: "steady", before: exchange,
			says: []string{"the file has changed", "to accept it: thresh plugins lock "}},
		"it tries to get out": {plugin: "tries-to-escape", shortens: true,
			set: []string{"plugins.isolation=strict"}, noop: escaped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h.meet(t)
		})
	}
}

// escaped is how each attempt ends of a plugin that tries to get out: to send something to local ports, to read a file
// of the system and the host's environment, to signal the host, to write where it has no business.
var escaped = []string{
	"tcp=permission denied", "udp=permission denied", "passwd=<refused>", "environ=permission denied",
	"signal=operation not permitted", "write-outside=<refused>", "write-above=<refused>",
	"write-inside=done",
}

// refusals are what a program is told that may not use a file, or does not see it.
var refusals = []string{"permission denied", "operation not permitted", "no such file or directory",
	"read-only file system"}

func (h hostile) meet(t *testing.T) {
	p := newPlace(t, h.plugin)
	args := []string{"run", "--log-level", "error"}
	for _, s := range h.set {
		if strings.HasPrefix(s, "plugins.isolation=strict") {
			isolates(p)
		}
		args = append(args, "--set", s)
	}
	cmd := p.command(args...)
	cmd.Env = append(cmd.Env, "A_SECRET=of the host")
	a := p.talk(cmd) // not p.serve: the race detector takes two seconds to start
	settings := object{"compression.strategy": h.plugin}
	if h.shortens {
		settings["compression.threshold"] = 0.0001
	}
	session := object{"session": a.open("s", settings)}
	greeting := []object{says("ai", "hello"), says("ai", "how are you"),
		says("human", "Fix the parser. "+strings.Repeat("It panics. ", 20))}
	a.call("history.add", with(session, object{"entries": greeting}), nil)
	if h.before != nil {
		a.prepare("s")
		h.before(a, h)
		a.call("history.add", with(session, object{"entries": []object{says("human", "And the lexer.")}}), nil)
	}
	var before, after prepared
	a.call("history.get", session, &before)

	id := a.send("window.prepare", session)
	if h.while != nil {
		h.while(a, h)
	}
	r := a.wait(id)
	a.call("history.get", session, &after)
	switch {
	case len(h.says) > 0:
		if h.kind == "" {
			h.kind = "plugin"
		}
		e := a.refusal(r, -32000, h.says...)
		if e.Data.Kind != h.kind || e.Data.Retryable != h.retryable || e.Data.Prepared == nil {
			t.Errorf("data: %+v", e.Data)
		}
		if diff := cmp.Diff(before.History, after.History); diff != "" {
			t.Errorf("the history changed:\n%s", diff)
		}
	case r.Error != nil:
		t.Errorf("got %+v", r.Error)
	}
	for _, words := range h.noop {
		said := strings.Contains(string(r.Result), words)
		// Which of the measures is first decides what the program is told: it may not, or there is no such file.
		if what, any := strings.CutSuffix(words, "<refused>"); any {
			said = slices.ContainsFunc(refusals, func(how string) bool {
				return strings.Contains(string(r.Result), what+how)
			})
		}
		if !said {
			t.Errorf("the strategy does not say %q: %s", words, r.Result)
		}
	}
	if got := texts(after.History); len(got) == 0 || got[len(got)-1] != texts(before.History)[len(before.History)-1] {
		t.Errorf("what was said last is not in the history: %q", got)
	}
	a.call("session.set", with(session, object{"key": "compression.strategy", "value": "high-density"}), nil)
	if got := a.prepare("s"); len(got.History) == 0 {
		t.Error("with another strategy nothing is left")
	}
	_ = a.stdin.Close()
	a.exitsQuietly()
}

// exitsQuietly waits for the host to end. A panic on its standard error is the plugin's, which an error repeats.
func (a *agent) exitsQuietly() {
	a.t.Helper()
	_ = a.cmd.Wait()
	if got := a.cmd.ProcessState.ExitCode(); got != 0 {
		a.t.Errorf("exit status %d:\n%s", got, a.stderr.String())
	}
	a.alone()
}

// isolates skips the test where this machine cannot enforce everything.
func isolates(p *place) {
	p.t.Helper()
	if r := p.run("plugins", "list", "--set", "plugins.isolation=strict"); !strings.Contains(r.stdout, "ready") {
		p.t.Skipf("SKIPPED: this machine does not isolate everything: %s", r.stdout)
	}
}

// running waits until the plugin runs, and returns its process id.
func running(a *agent, h hostile) (pid int) {
	a.t.Helper()
	if !eventually(patience, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range all {
			if text, _ := os.ReadFile(file); strings.HasPrefix(string(text),
				a.plugins+"/thresh-strategy-"+h.plugin+"\x00") {
				pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
			}
		}
		return pid > 0
	}) {
		a.t.Fatalf("%s does not run", h.plugin)
	}
	return pid
}

// busy waits until a call to the plugin is under way.
func busy(a *agent, h hostile) (pid int) {
	a.t.Helper()
	// It writes that into its run directory, which isolation has only it see.
	pattern := a.path("tmp", "*", "*", "waiting")
	if !eventually(patience, func() bool {
		pid = running(a, h)
		found, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root%s", pid, pattern))
		return len(found) > 0
	}) {
		a.t.Fatalf("%s was not called", h.plugin)
	}
	return pid
}

func kill(a *agent, h hostile) {
	pid := busy(a, h)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if !eventually(patience, func() bool { return !lives(pid) }) {
		a.t.Errorf("process %d is still there", pid)
	}
}

func killTwice(a *agent, h hostile) {
	kill(a, h)
	kill(a, h)
}

func stop(a *agent, h hostile) { _ = syscall.Kill(busy(a, h), syscall.SIGSTOP) }

func lives(pid int) bool {
	_, err := os.Stat(fmt.Sprint("/proc/", pid))
	return err == nil
}

// exchange puts another file in the place of the plugin's, one that does the same, and kills the process.
func exchange(a *agent, h hostile) {
	a.t.Helper()
	path := a.pluginFile(h.plugin)
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path+".new", append(text, "another version"...), 0o755)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	pid := running(a, h)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	eventually(patience, func() bool { return !lives(pid) })
}
