package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

type replayed struct {
	Sessions []struct {
		File, Format, Strategy, Error string
		Entries                       int
		Saved                         float64
		Turns                         []struct {
			Turn, Entry, Unpruned, TokensBefore, TokensAfterOptimize, TokensAfterCompress int
			Boundary                                                                      bool
			Optimize, Compress                                                            object
			HostTimeNs, PluginTimeNs                                                      int
		}
		Totals struct{ Turns, Unpruned, Sent, Peak, Optimized, Compressed, Boundaries, HostTimeNs, PluginTimeNs int }
	}
}

func TestReplayPrintsEveryTurn(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("a.json", pruning)
	p.file("b.jsonl", turns(40))
	got := decode[replayed](
		t,
		p.run("plugins", "replay", "-o", "json", "--set", "model.contextLimit=8000", "--set", "workspace.root=/w",
			"--strategy", "high-density", "a.json", "b.jsonl"),
	)
	if len(got.Sessions) != 2 {
		t.Fatalf("%d sessions", len(got.Sessions))
	}
	for i, want := range []struct {
		file           string
		entries, turns int
	}{{"a.json", 6, 3}, {"b.jsonl", 80, 40}} {
		s := got.Sessions[i]
		if s.File != want.file || s.Format != "native" || s.Strategy != "high-density" || s.Entries != want.entries ||
			len(s.Turns) != want.turns ||
			s.Error != "" {
			t.Errorf(
				"session %d: %s, %s, %s, %d entries, %d turns, error %q", i, s.File, s.Format, s.Strategy, s.Entries,
				len(s.Turns), s.Error,
			)
		}
		sent := 0
		for k, turn := range s.Turns {
			sent += turn.TokensAfterCompress
			if turn.Turn != k+1 || turn.TokensAfterOptimize > turn.TokensBefore ||
				turn.TokensAfterCompress > turn.TokensAfterOptimize ||
				turn.TokensBefore > turn.Unpruned ||
				turn.HostTimeNs <= 0 ||
				turn.PluginTimeNs <= 0 {
				t.Errorf("session %d, turn %d: %+v", i, k+1, turn)
			}
		}
		if s.Totals.Turns != want.turns || s.Totals.Sent != sent || s.Totals.HostTimeNs <= 0 {
			t.Errorf("session %d: totals %+v, the turns add up to %d", i, s.Totals, sent)
		}
	}
	if a, b := got.Sessions[0], got.Sessions[1]; a.Totals.Optimized == 0 || a.Saved <= 0 || b.Totals.Compressed == 0 {
		t.Errorf("nothing optimised in %+v or nothing compressed in %+v", a.Totals, b.Totals)
	}
}

func TestReplayTables(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	p.file("a.json", pruning)
	p.file("b.jsonl", turns(5))
	r := p.run("plugins", "replay", "--turns", "a.json", "b.jsonl").done(t)
	for _, want := range []string{"a.json", "b.jsonl", "all", "SAVED", "TURN"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout+r.stderr, "\x1b") || strings.Contains(r.stdout+r.stderr, "\r") || r.stderr != "" {
		t.Errorf("what is for a terminal goes to a pipe: %q %q", r.stdout, r.stderr)
	}
}

func TestReplayBeginsAnewWhereTheRecorderCompacted(t *testing.T) {
	t.Parallel()
	p := newPlaceHere(t)
	list := "[" + strings.ReplaceAll(strings.TrimSpace(turns(10)), "\n", ",") + "]"
	p.file(
		"s.json",
		`{"history":`+list+`,"boundaries":[{"index":10,"kind":"compact_boundary"},`+
			`{"index":14,"kind":"microcompact_boundary"}]}`,
	)
	got := decode[replayed](t, p.run("plugins", "replay", "-o", "json", "s.json")).Sessions[0]
	var at []int
	for _, turn := range got.Turns {
		if turn.Boundary {
			at = append(at, turn.Entry)
		}
	}
	if diff := cmp.Diff([]int{11}, at); diff != "" || got.Totals.Boundaries != 1 {
		t.Errorf("%d boundaries, turns after one:\n%s", got.Totals.Boundaries, diff)
	}
	if got.Turns[5].Unpruned >= got.Turns[4].Unpruned {
		t.Errorf("turn 6 counts %d tokens, turn 5 %d", got.Turns[5].Unpruned, got.Turns[4].Unpruned)
	}
}

func TestRecordedSessionsReplay(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "native"), "*", "*"))
	var known []string
	for _, f := range files {
		for _, agent := range []string{"entireio-cli", "packmind", "cipher-box", "agentv/c", "tau-bench"} {
			if strings.Contains(f, "native/"+agent) && !strings.Contains(f, "copilot") {
				known = append(known, f)
			}
		}
	}
	known = append(known, repo.Samples(t)...)
	p := newPlaceHere(t)
	got := decode[replayed](
		t, p.run(append([]string{"plugins", "replay", "-o", "json", "--set", "model.contextLimit=30000"}, known...)...),
	)
	for _, s := range got.Sessions {
		if s.Error != "" || len(s.Turns) == 0 {
			t.Errorf("%s: %d turns, error %q", s.File, len(s.Turns), s.Error)
		}
	}
	if len(got.Sessions) < 10 {
		t.Errorf("only %d sessions", len(got.Sessions))
	}
}

// TestCtrlCInTheMiddleOfAReplay comes while the second session's strategy is at work.
func TestCtrlCInTheMiddleOfAReplay(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"text", "json"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, "gate")
			p.file("a.json", pruning)
			if err := syscall.Mkfifo(p.path("work", "b.json"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := p.command("plugins", "replay", "--strategy", "gate", "-o", output, "a.json", "b.json", "c.json")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			session, err := os.OpenFile(
				p.path("work", "b.json"), os.O_WRONLY, 0,
			) // waits until the first session is done
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := session.WriteString(pruning); err != nil {
				t.Fatal(err)
			}
			_ = session.Close()
			gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0) // waits until the strategy is at work
			if err != nil {
				t.Fatal(err)
			}
			defer gate.Close()
			p.interrupt(cmd.Process.Pid)
			start := time.Now()
			_ = cmd.Wait()
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if got := cmd.ProcessState.ExitCode(); got != 1 ||
				!strings.Contains(stderr.String(), "interrupted after 1 of 3 sessions") {
				t.Errorf("exit status %d:\n%s", got, stderr.String())
			}
			if strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("on standard error:\n%s", stderr.String())
			}
			if !strings.Contains(stdout.String(), "a.json") || strings.Contains(stdout.String(), "c.json") {
				t.Errorf("printed\n%s", stdout.String())
			}
			if output == "json" {
				got := parseJSON[replayed](t, stdout.String())
				if len(got.Sessions) != 2 || got.Sessions[0].Error != "" || got.Sessions[1].Error == "" {
					t.Errorf("sessions: %+v", got.Sessions)
				}
			}
			p.calm(stderr.String())
			p.alone()
		})
	}
}

// interrupt is Ctrl-C: a terminal signals the whole process group.
func (p *place) interrupt(group int) {
	p.t.Helper()
	if err := syscall.Kill(-group, syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
}

func TestCtrlCWhileInputIsAwaited(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"plugins replay", "tokens", "plugins try --step=optimize", "sessions convert --to native"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if err := syscall.Mkfifo(p.path("work", "in"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := p.command(append(strings.Fields(command), "in")...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			in, err := os.OpenFile(p.path("work", "in"), os.O_WRONLY, 0) // waits for its reader
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			p.interrupt(cmd.Process.Pid)
			_ = cmd.Wait()
			result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}.failed(t, 1, "interrupted")
		})
	}
}

func TestKillingAReplayEndsThePlugins(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "gate")
	p.file("a.json", pruning)
	if err := syscall.Mkfifo(p.path("work", "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("plugins", "replay", "--strategy", "gate", "a.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(p.path("work", "gate"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if len(p.processes()) != 1 {
		t.Errorf("processes: %v", p.processes())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	p.alone()
	p.run("plugins", "list").done(t) // the next host tidies up what a killed one left
}

func TestAReaderThatGoesEndsAReplayQuietly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("a.json", pruning)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = read.Close()
	cmd := p.command("plugins", "replay", "a.json")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	_ = write.Close()
	if stderr.Len() > 0 {
		t.Errorf("on standard error: %s", stderr.String())
	}
	p.alone()
}
