package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/wire"
)

// handshaken starts the actor as a host does, without go-plugin's client, and returns once it has said where it
// listens.
func handshaken(t *testing.T, change func(*exec.Cmd)) (cmd *exec.Cmd, socket string) {
	t.Helper()
	cmd = selfAs(t, "actor")
	cmd.Env = append(cmd.Env, wire.CookieKey+"="+wire.CookieValue, "PLUGIN_PROTOCOL_VERSIONS=1")
	if change != nil {
		change(cmd)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Split(strings.TrimSpace(line), "|")
	if len(fields) != 6 || fields[0] != "1" || fields[1] != "1" || fields[2] != "unix" || fields[4] != "grpc" ||
		fields[5] != "" {
		t.Fatalf("handshake line %q", line)
	}
	if _, err := os.Stat(fields[3]); err != nil {
		t.Fatal(err)
	}
	return cmd, fields[3]
}

// exits waits for the end of a process and checks that it left well and left nothing.
func exits(t *testing.T, cmd *exec.Cmd, socket string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v, want exit code 0", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it lives on")
	}
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket %s is still there (%v)", socket, err)
	}
}

func TestSIGTERMEndsThePlugin(t *testing.T) {
	cmd, socket := handshaken(t, nil)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	exits(t, cmd, socket)
}

func TestThePluginGoesWhenTheHostIsGoneAndNotOnInterrupt(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, socket := handshaken(t, func(cmd *exec.Cmd) {
		cmd.ExtraFiles = []*os.File{r}
		cmd.Env = append(cmd.Env, wire.EnvLifeline+"=3")
	})
	_ = r.Close()
	for range 3 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.WriteString("what the host writes means nothing\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("it is gone already: %v", err)
	}
	_ = w.Close()
	exits(t, cmd, socket)
}

func TestWhatAPluginSaysToPeople(t *testing.T) {
	tests := map[string]struct {
		plugin string
		args   []string
		env    []string
		code   int
		stdout []string
		stderr []string
	}{
		"started by hand": {"actor", nil, nil, 1, nil, []string{`is the thresh strategy plugin "actor", version 1.2.3`,
			"Does what a test says.", "thresh-strategy-actor", "thresh plugins list"}},
		"wrong cookie": {"actor", nil, []string{wire.CookieKey + "=other"}, 1, nil, []string{"thresh strategy plugin"}},
		"--help":       {"actor", []string{"--help"}, nil, 0, []string{"--describe", "thresh plugins list"}, nil},
		"--version":    {"actor", []string{"--version"}, nil, 0, []string{"actor 1.2.3\n"}, nil},
		"unknown flag": {"actor", []string{"--frobnicate"}, nil, 2, nil,
			[]string{"unknown arguments: --frobnicate", "--describe"}},
		"no Optimize": {"no-optimize", nil, []string{wire.CookieKey + "=" + wire.CookieValue}, 2, nil,
			[]string{"declares the trigger sdk.Continuous but has no method Optimize"}},
		"a bad Info": {"bad-info", []string{"--describe"}, nil, 2, nil,
			[]string{`Info.Name is "Bad Name"`, "Info.Version", "default threshold 1.5",
				`Info.Config[0] ("n"): the default many (string) is not of type integer`}},
		"a lifeline that is no number": {"actor", nil, []string{wire.CookieKey + "=" + wire.CookieValue,
			wire.EnvLifeline + "=x"}, 2, nil,
			[]string{wire.EnvLifeline, "not the number of a descriptor"}},
		"a lifeline that is not open": {"actor", nil, []string{wire.CookieKey + "=" + wire.CookieValue,
			wire.EnvLifeline + "=99"}, 2, nil,
			[]string{"not an open descriptor"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := selfAs(t, tt.plugin)
			cmd.Args = append(cmd.Args, tt.args...)
			cmd.Env = append(cmd.Env, tt.env...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for stream, check := range map[string]struct {
				got  string
				want []string
			}{"stdout": {stdout.String(), tt.stdout}, "stderr": {stderr.String(), tt.stderr}} {
				if len(check.want) == 0 && check.got != "" {
					t.Errorf("%s: %q, want nothing", stream, check.got)
				}
				for _, w := range check.want {
					if !strings.Contains(check.got, w) {
						t.Errorf("%s does not say %q:\n%s", stream, w, check.got)
					}
				}
			}
		})
	}
}

func TestDescribePrintsTheInfoAsJSON(t *testing.T) {
	cmd := selfAs(t, "actor")
	cmd.Args = append(cmd.Args, "--describe")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "sdk")
	want := map[string]any{
		"name": "actor", "version": "1.2.3", "description": "Does what a test says.", "protocolVersion": 1.0,
		"trigger": "continuous", "defaultThreshold": 0.7, "requiresLLM": true,
		"config": []any{
			map[string]any{"key": "keep", "type": "integer", "default": 50.0, "minimum": 1.0},
			map[string]any{"key": "mode", "type": "string", "allowed": []any{"a", "b"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
