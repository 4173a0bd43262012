package recordings

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/thresh-dev/thresh/host/internal/lab/transcript"
)

// put makes files with the given content, each a second older than the one before.
func put(t *testing.T, root string, files [][2]string) {
	t.Helper()
	for i, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f[0]))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000-int64(i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionsAreFoundWhereAgentsKeepThem(t *testing.T) {
	home := t.TempDir()
	hash := sha256.Sum256([]byte("/src/app"))
	gemini := ".gemini/tmp/" + hex.EncodeToString(hash[:]) + "/chats/session-1.json"
	const app, other = `{"cwd":"/src/app"}`, `{"cwd": "/src/app2"}`
	put(t, home, [][2]string{
		{".claude/projects/-work-app/1.jsonl", app},
		{".claude/projects/-work-app/agent-2.jsonl", app}, // a sub-agent's
		{".claude/projects/-work-app/1/sub/2.jsonl", app}, // the same
		{".claude/projects/-work-app/3.jsonl", ""},        // empty
		{".codex/sessions/2026/01/02/rollout-1.jsonl", other},
		{".codex/history.jsonl", app},
		{".codex/sessions/2026/01/02/rollout-1.jsonl.zst", other}, // while it is compressed there are both
		{gemini, `{}`},
		{".gemini/tmp/app/chats/session-2.jsonl", `{"projectHash":"` + hex.EncodeToString(hash[:]) + `"}`},
		{".qwen/projects/-w/chats/1.jsonl", `{"cwd":"/src/app/sub"}`},
		{".copilot/session-state/1/events.jsonl", app},
		{".pi/agent/sessions/--w--/1.jsonl", app},
		{".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json",
			`[{"content":"# Current Working Directory (/src/app) Files"}]`},
		{".cline/data/sessions/1/1.messages.json", `{"messages":[]}`},
		{".cline/data/sessions/1/1.json", app},
		{"Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json",
			`[]`},
		{".local/share/opencode/storage/session/p/ses_1.json", `{"directory":"/src/app"}`},
		{".openhands/conversations/1/base_state.json", `{"workspace":{"working_dir":"/src/app"}}`},
		{"AppData/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/2/api_conversation_history.json", `[]`},
		{"data/opencode/storage/session/p/ses_2.json", `{}`},
		{"elsewhere/sessions/2026/01/02/rollout-2.jsonl", app},
		{".local/share/amp/threads/T-1.json", `{"id":"T-1","env":{"initial":{"trees":[{"uri":"file:///src/app"}]}}}`},
		{".factory/sessions/-src-app/1.jsonl", app}, {".factory/sessions/-src-app/1.settings.json", app},
		{".local/share/goose/sessions/20260102_1.jsonl", `{"working_dir":"/src/app"}`},
		{".config/Code/User/globalStorage/kilocode.kilo-code/tasks/1/api_conversation_history.json",
			`[{"content":"# Current Working Directory (/src/app) Files"}]`},
		{".kimi-code/sessions/wd_app/session_1/agents/main/wire.jsonl", app},
		{".kimi-code/sessions/wd_app/session_1/agents/agent-0/wire.jsonl", app}, // a sub-agent's
		{".kimi/sessions/0a/1/wire.jsonl", other},
	})
	system := func(os string, env map[string]string) System {
		return System{OS: os, Home: home, Getenv: func(name string) string { return env[name] }}
	}
	for name, tt := range map[string]struct {
		system  System
		options Options
		want    []string
	}{
		"all, newest first": {system("linux", nil), Options{}, []string{
			"claude-code", "codex", "gemini-cli", "gemini-cli", "qwen-code", "copilot-cli", "pi", "cline", "cline",
			"opencode", "openhands", "amp", "droid", "goose", "kilo", "kimi", "kimi"}},
		"of a project": {system("linux", nil), Options{Project: "/src/app/"}, []string{
			"claude-code", "gemini-cli", "gemini-cli", "qwen-code", "copilot-cli", "pi", "cline", "cline", "opencode",
			"openhands", "amp", "droid", "goose", "kilo", "kimi"}},
		"of an agent":   {system("linux", nil), Options{Agent: "codex"}, []string{"codex"}},
		"macOS":         {system("darwin", nil), Options{Agent: "cline"}, []string{"cline", "cline"}},
		"another place": {system("linux", map[string]string{"CODEX_HOME": home + "/elsewhere"}), Options{Agent: "codex"}, []string{"codex"}},
		"XDG":           {system("linux", map[string]string{"XDG_CONFIG_HOME": home + "/none"}), Options{Agent: "cline"}, []string{"cline"}},
		"XDG data":      {system("linux", map[string]string{"XDG_DATA_HOME": home + "/data"}), Options{Agent: "opencode"}, []string{"opencode"}},
		"Windows": {system("windows", map[string]string{"APPDATA": home + "/AppData"}), Options{Agent: "cline"},
			[]string{"cline", "cline"}},
		"nothing is there": {System{OS: "linux", Home: home + "/none", Getenv: func(string) string { return "" }}, Options{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Find(tt.system, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Agent)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff, found)
			}
		})
	}
	if beside := Beside(system("linux", nil), Options{}); len(beside) != 1 || filepath.Base(beside[0]) != "agent-2.jsonl" {
		t.Errorf("beside sessions: %q", beside)
	}
	if _, err := Find(system("linux", nil), Options{Agent: "x"}); err == nil || !strings.Contains(err.Error(), "unknown agent") {
		t.Errorf("got %v", err)
	}
}

func TestADirectoryIsWalked(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, [][2]string{
		{"a/b/new.JSONL", "x"}, {"old.traj", "x"}, {"notes.md", "x"}, {"empty.json", ""}, {".git/x.json", "x"},
		{"node_modules/x.json", "x"}, {"oh/base_state.json", "{}"}, {"oh/events/event-00000-1.json", "{}"},
		{"storage/session/p/ses_1.json", "{}"}, {"storage/message/ses_1/msg_1.json", "{}"},
	})
	if err := os.Symlink("loop.json", filepath.Join(dir, "loop.json")); err != nil {
		t.Fatal(err)
	}
	found, many, err := Walk(dir)
	if err != nil || !many {
		t.Fatal(many, err)
	}
	var got []string
	for _, f := range found {
		got = append(got, filepath.Base(f.Path))
	}
	if diff := cmp.Diff([]string{"new.JSONL", "old.traj", "base_state.json", "ses_1.json"}, got); diff != "" {
		t.Error(diff)
	}
	for _, one := range []string{"none", "old.traj", "oh", "loop.json"} {
		if _, many, err := Walk(filepath.Join(dir, one)); many || err != nil {
			t.Errorf("%s is walked: %v", one, err)
		}
	}
}

func TestACompressedSessionIsFoundByItsProject(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	put(t, home, [][2]string{
		{".codex/sessions/2026/01/02/rollout-1.jsonl.zst", string(z.EncodeAll([]byte(`{"cwd":"/src/app"}`), nil))},
		{".codex/sessions/2026/01/02/rollout-2.jsonl.zst", string(z.EncodeAll([]byte(`{"cwd":"/src/app2"}`), nil))},
	})
	found, err := Find(System{OS: "linux", Home: home, Getenv: func(string) string { return "" }}, Options{Project: "/src/app"})
	if err != nil || len(found) != 1 || filepath.Base(found[0].Path) != "rollout-1.jsonl.zst" {
		t.Error(found, err)
	}
}

func TestASessionOfAnAgentWithoutAReaderIsNamed(t *testing.T) {
	home := t.TempDir()
	put(t, home, [][2]string{{".config/manicode/projects/1.jsonl", `{"some":"thing"}`}, {"1.jsonl", `{"some":"thing"}`}})
	_ = execute(t, filepath.Join(home, ".hermes", "state.db"), "create table messages (x)").Close()
	for path, want := range map[string]string{
		".config/manicode/projects/1.jsonl": "session of codebuff, for which there is no reader", "1.jsonl": "supported: ",
		".hermes/state.db": "a database of hermes, for which there is no reader",
	} {
		if _, err := Read(filepath.Join(home, path), transcript.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if names := Unread(System{OS: "linux", Home: home}); strings.Join(names, " ") != "codebuff hermes" {
		t.Errorf("got %q", names)
	}
}
