package recordings

import (
	"cmp"
	"path/filepath"
)

// System is what the places of sessions depend on. It is a parameter and not read from the process, so tests try
// other systems than theirs.
type System struct {
	OS   string
	Home string
	// Getenv is as os.Getenv; it returns "" for what is not set.
	Getenv func(string) string
}

// agent is one agent and where it keeps its sessions.
type agent struct {
	name string
	// An agent that can be told to keep its sessions elsewhere by a variable is looked for there alone.
	// roots returns the directories of its sessions. Most do not exist on a given machine.
	roots func(System) []string
	// patterns are the files below a root, as in [filepath.Match], with a fixed depth: deeper files are those of
	// sub-agents, or copies.
	patterns []string
	// not is a pattern of file names that are left out; "" for none.
	not string
}

// agents are the agents whose sessions can be read.
var agents = []agent{
	{
		name: "claude-code",
		roots: func(s System) []string {
			return s.or("CLAUDE_CONFIG_DIR", "projects", s.home(".claude", "projects"), s.config("claude", "projects"))
		},
		patterns: []string{"*/*.jsonl"}, not: "agent-*",
	},
	{
		name: "codex",
		roots: func(s System) []string {
			return s.or("CODEX_HOME", "", s.home(".codex"))
		},
		// One folder a day; sessions that were archived move into a folder of their own.
		// After a week without a change they are compressed.
		patterns: []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl",
			"sessions/*/*/*/rollout-*.jsonl.zst", "archived_sessions/rollout-*.jsonl.zst"},
	},
	{
		name:  "gemini-cli",
		roots: func(s System) []string { return []string{s.home(".gemini", "tmp")} },
		// A folder is a project: its hash, or in newer versions its name. Versions from 0.40 on write lines.
		patterns: []string{"*/chats/session-*.json", "*/chats/session-*.jsonl"},
	},
	{
		name: "qwen-code",
		roots: func(s System) []string {
			return []string{s.home(".qwen", "projects"), s.home(".qwen", "tmp")}
		},
		patterns: []string{"*/chats/*.jsonl"},
	},
	{
		name: "copilot-cli",
		roots: func(s System) []string {
			return []string{s.home(".copilot", "session-state"), s.home(".copilot", "history-session-state")}
		},
		// Older versions wrote a file a session, newer ones a folder.
		patterns: []string{"*/events.jsonl", "*.jsonl"},
	},
	{
		name: "pi",
		roots: func(s System) []string {
			return s.or("PI_CODING_AGENT_DIR", "sessions", s.home(".pi", "agent", "sessions"))
		},
		patterns: []string{"*/*.jsonl"},
	},
	{
		name:  "opencode",
		roots: func(s System) []string { return []string{s.data("opencode")} },
		// The database first: it holds what older versions kept in files.
		patterns: []string{"opencode*.db", "storage/session/*/ses_*.json"},
	},
	{
		name: "openhands",
		roots: func(s System) []string {
			return s.or("OPENHANDS_CONVERSATIONS_DIR", "",
				append(s.or("OPENHANDS_PERSISTENCE_DIR", "conversations"), s.home(".openhands", "conversations"))...)
		},
		// The directory of a conversation is found by a file in it; [gather] reads the rest.
		patterns: []string{"*/base_state.json"},
	},
	{
		name: "cline",
		roots: func(s System) []string {
			return append(s.extensions("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline"),
				s.home(".cline", "data"))
		},
		// Cline's extension has tasks, its command line has sessions.
		patterns: []string{"tasks/*/api_conversation_history.json", "sessions/*/*.messages.json"},
	},
	{
		// Newer versions keep threads on a server; what older ones left is here.
		name:     "amp",
		roots:    func(s System) []string { return []string{s.data("amp", "threads")} },
		patterns: []string{"T-*.json"},
	},
	{
		name:     "droid",
		roots:    func(s System) []string { return []string{s.home(".factory", "sessions")} },
		patterns: []string{"*/*.jsonl", "*.jsonl"},
	},
	{
		name: "goose",
		roots: func(s System) []string {
			return s.or("GOOSE_PATH_ROOT", "data/sessions", s.data("goose", "sessions"),
				s.config("Block", "goose", "data", "sessions"))
		},
		// The database first, as for opencode.
		patterns: []string{"sessions.db", "*.jsonl"},
	},
	{
		// A fork of opencode, and before that of Roo Code.
		name: "kilo",
		roots: func(s System) []string {
			return append([]string{s.data("kilo")}, s.extensions("kilocode.kilo-code")...)
		},
		patterns: []string{"kilo*.db", "tasks/*/api_conversation_history.json"},
	},
	{
		name: "kimi",
		roots: func(s System) []string {
			return append(s.or("KIMI_CODE_HOME", "sessions", s.home(".kimi-code", "sessions")),
				s.or("KIMI_SHARE_DIR", "sessions", s.home(".kimi", "sessions"))...)
		},
		// Kimi Code, with a folder an agent of a session; and kimi-cli.
		patterns: []string{"*/*/agents/main/wire.jsonl", "*/*/wire.jsonl"},
	},
}

func (s System) home(parts ...string) string {
	return filepath.Join(append([]string{s.Home}, parts...)...)
}

// data returns a place in the directory for data, which these agents have on all systems.
func (s System) data(parts ...string) string {
	base := cmp.Or(s.Getenv("XDG_DATA_HOME"), s.home(".local", "share"))
	return filepath.Join(append([]string{base}, parts...)...)
}

// config returns a place in the directory for settings. Each system has its own place; XDG_CONFIG_HOME counts on macOS
// too if it is set.
func (s System) config(parts ...string) string {
	base := s.home(".config")
	switch dir := s.Getenv("XDG_CONFIG_HOME"); {
	case s.OS == "windows" && s.Getenv("APPDATA") != "":
		base = s.Getenv("APPDATA")
	case s.OS == "darwin" && dir == "":
		base = s.home("Library", "Application Support")
	case dir != "":
		base = dir
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// or returns sub in the directory that a variable names, or the usual places if it is not set.
func (s System) or(variable, sub string, usual ...string) []string {
	if dir := s.Getenv(variable); dir != "" {
		return []string{filepath.Join(dir, sub)}
	}
	return usual
}

// extensions returns where the editors that are built on VS Code keep what these extensions store.
func (s System) extensions(names ...string) (dirs []string) {
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		for _, name := range names {
			dirs = append(dirs, s.config(editor, "User", "globalStorage", name))
		}
	}
	// Where an editor works on a remote machine.
	for _, name := range names {
		dirs = append(dirs, s.home(".vscode-server", "data", "User", "globalStorage", name))
	}
	return dirs
}
