package plugins

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/sdk"
)

func TestStartsThatFail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		op   Op
		want error
		says []string
	}{
		"panics-at-start": {OpStart, ErrNotPlugin,
			[]string{"exit status 2", "before the handshake", "panic: no good reason"}},
		"exits-at-start": {OpStart, ErrNotPlugin, []string{"exit status 3", "cannot find my licence"}},
		"hangs-at-start": {OpStart, ErrTimeout, []string{"no handshake line within 5s"}},
		"other-version": {OpStart, ErrIncompatible,
			[]string{"version 2 of the strategy protocol, this host speaks 1"}},
		"other-cookie":             {OpStart, ErrNotPlugin, []string{"exit status 1", "This binary is a plugin"}},
		"deaf":                     {OpStart, ErrTimeout, []string{"no connection within 5s"}},
		"elsewhere":                {OpStart, ErrNotPlugin, []string{"/tmp/somebody-elses.sock"}},
		"other-service":            {fault.OpGetInfo, ErrNotPlugin, []string{"does not serve thresh.v1.StrategyService"}},
		"panics-in-getinfo":        {fault.OpGetInfo, ErrPluginCrashed, []string{"panic: who am I?"}},
		"hangs-in-getinfo":         {fault.OpGetInfo, ErrTimeout, []string{"no answer within 5s", "plugins.startTimeout"}},
		"lies-about-its-name":      {fault.OpGetInfo, ErrBadInfo, []string{"somebody-else", "rename the file"}},
		"declares-too-many":        {fault.OpGetInfo, ErrBadInfo, []string{"declares 901 settings, at most 200"}},
		"declares-too-much":        {fault.OpGetInfo, ErrBadInfo, []string{"at most 262144 are allowed"}},
		"declares-long-values":     {fault.OpGetInfo, ErrBadInfo, []string{`setting "k0"`, "longer than 200 bytes"}},
		"has-no-trigger":           {fault.OpGetInfo, ErrBadInfo, []string{"trigger mode"}},
		"later-than-its-threshold": {fault.OpGetInfo, ErrBadInfo, []string{"early threshold 0.9", "threshold 0.85"}},
		"refuses-config": {OpConfigure, ErrBadConfig,
			[]string{"strategies.refuses-config", "keep must be a prime number"}},
		"exits-in-configure": {OpConfigure, ErrPluginCrashed, []string{"exit status 4"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}})
			if errors.Is(test.want, ErrTimeout) {
				m.opts.StartTimeout = 5 * time.Second // long enough for those that answer something, on a busy machine
			}
			_, err := m.Strategy(t.Context(), name)
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v\nwant %v", err, test.want)
			}
			var failure *Error
			if !errors.As(err, &failure) || failure.Plugin != name || failure.Op != test.op || failure.Path == "" {
				t.Errorf("got %#v", failure)
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v\ndoes not say %q", err, words)
				}
			}
		})
	}
}

func TestFilesThatAreNoPlugins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		says []string
	}{
		"script-that-exits": {"#!/bin/sh\necho hello there\n",
			[]string{"exit status 0", "before the handshake", `printed ["hello there"]`}},
		"no-interpreter": {"#!/no/such/program\n", []string{"no such file", "#! line"}},
		"wrong-system":   {"\x7fELF but not really", []string{"exec format error", "built for this system"}},
		"old-core": {"#!/bin/sh\necho '9|1|unix|/x|grpc'\nsleep 60\n",
			[]string{"version 9 of go-plugin's protocol"}},
		"no-grpc":      {"#!/bin/sh\necho '1|1|unix|/x|netrpc'\nsleep 60\n", []string{"does not speak gRPC"}},
		"endless-line": {"#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x\n", []string{"exit status 0", `xxx`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plugintest.Write(t, dir, FilePrefix+name, test.text, 0o755)
			_, err := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir},
				Grants: map[string]config.Grant{"endless-line": {Processes: true}}}}).Strategy(t.Context(), name)
			if !errors.Is(err, ErrNotPlugin) && !errors.Is(err, ErrIncompatible) {
				t.Fatalf("got %v", err)
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%v\ndoes not say %q", err, words)
				}
			}
		})
	}
}

// A binary that is still open for writing cannot be run; the start waits a moment for the copy to end.
func TestABinaryThatIsBeingCopiedIsTriedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := plugintest.Write(t, dir, FilePrefix+"steady", "", 0o755)
	binary, err := os.ReadFile(faulty)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(binary); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(60*time.Millisecond, func() { _ = f.Close() })
	strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}), "steady")
}

func TestABinaryThatIsWrittenForEverIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := plugintest.Write(t, dir, FilePrefix+"steady", "#!", 0o755)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	_, err = open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}}).Strategy(t.Context(), "steady")
	var failure *Error
	if !errors.As(err, &failure) || !failure.Retryable || !strings.Contains(failure.Hint, "still being written") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownStrategy(t *testing.T) {
	t.Parallel()
	good, bad, missing := pluginDir(t, "steady"), t.TempDir(), filepath.Join(t.TempDir(), "nowhere")
	plugintest.Write(t, bad, FilePrefix+"notes", "hello", 0o644)
	_, err := open(t, Options{Plugins: config.Plugins{Dirs: []string{good, bad, missing}}}).Strategy(t.Context(),
		"stedy")
	if !errors.Is(err, ErrUnknownStrategy) {
		t.Fatalf("got %v", err)
	}
	want := `unknown strategy "stedy", did you mean "steady"?: none is built in, as this program does not call host.ReexecMain first in main; found steady in ` + good + ", " + bad +
		" (no plugins in it), " + missing +
		" (no such file or directory); not usable: " + filepath.Join(bad, FilePrefix+"notes") +
		" is not executable (chmod +x)"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if _, err := open(t, Options{}).Strategy(t.Context(), "x"); err == nil ||
		!strings.Contains(err.Error(), "plugins.dirs") {
		t.Errorf("without directories: %v", err)
	}
}

func TestAWrongSettingNamesItself(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}},
		Settings: settings(t, map[string]any{"strategies.steady.kepe": 1, "strategies.steady.keep": 0})})
	_, err := m.Strategy(t.Context(), "steady")
	if !errors.Is(err, ErrBadConfig) {
		t.Fatalf("got %v", err)
	}
	for _, words := range []string{`strategies.steady.kepe`, `did you mean keep?`, `strategies.steady.keep`,
		"at least 1"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%v\ndoes not say %q", err, words)
		}
	}
}

func TestListHurtsNobodyByABrokenPlugin(t *testing.T) {
	t.Parallel()
	first := pluginDir(t, "steady", "threshold-only", "panics-at-start", "refuses-config")
	second := pluginDir(t, "steady")
	missing := filepath.Join(t.TempDir(), "nowhere")
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{missing, first, second},
		StartTimeout: 5 * time.Second}})
	used := strategy(t, m, "threshold-only")
	before := pid(t, used)

	got := m.List(t.Context())
	sum := m.hashes.OfFile(faulty)
	path := func(dir, name string) string { return filepath.Join(dir, FilePrefix+name) }
	info := Listing{Version: "1.2.3", Trigger: sdk.ModeContinuous, DefaultThreshold: 0.85, SHA256: sum}
	with := func(name, path string, state State, change func(*Listing)) Listing {
		l := info
		l.Name, l.Path, l.State = name, path, state
		change(&l)
		return l
	}
	want := []Listing{
		{Path: missing, State: StateNoDirectory, Reason: "no such file or directory"},
		{Name: "panics-at-start", Path: path(first, "panics-at-start"), State: StateBroken, SHA256: sum},
		with("refuses-config", path(first, "refuses-config"), StateBroken, func(*Listing) {}),
		with("steady", path(first, "steady"), StateReady, func(*Listing) {}),
		with("threshold-only", path(first, "threshold-only"), StateReady,
			func(l *Listing) { l.Trigger = sdk.ModeThreshold }),
		{Name: "steady", Path: path(second, "steady"), State: StateShadowed, SHA256: sum,
			Reason: "hidden by " + path(first, "steady")},
	}
	ignore := cmpopts.IgnoreFields(Listing{}, "Reason", "Stderr", "Lacking", "Isolation")
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Error(diff)
	}
	for _, l := range got {
		if (l.State == StateReady) != (l.Reason == "") {
			t.Errorf("%s is %s for the reason %q", l.Path, l.State, l.Reason)
		}
	}
	if !strings.Contains(got[1].Stderr, "panic: no good reason") {
		t.Errorf("the end of standard error: %q", got[1].Stderr)
	}
	if after := pid(t, used); after != before {
		t.Errorf("the process in use was replaced: %d, then %d", before, after)
	}
	if state, _ := m.handle("steady").State(); state != StateStopped {
		t.Errorf("the process that was started for the listing is %s", state)
	}
}
