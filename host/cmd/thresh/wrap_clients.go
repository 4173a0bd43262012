package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/jsonc"

	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/plugins/rundir"
)

// How agents are told to use another base URL: by a variable, an argument, a file. An address is looked up in the
// agent's own order: a user's configuration means the same with thresh and without.

// wrapping is how one agent is told to use another base URL, without changing a file of the user's. docs/use-with.md
// has the same table for people, and 'make test-clients' runs the agents.
type wrapping struct {
	// command is the name of the agent's program; how says what is set, for people.
	command, how string
	// lost is what a foreign base URL switches off, and what brings it back; "" if nothing is known.
	lost string
	// provider is for requests that do not show theirs: several APIs have a path such as /v1/models, and clients need
	// not send what tells them apart. "" for agents with clients of several providers.
	provider  string
	variables []variable
	// others are set as they are, unless the user has set them.
	others []string
	// arguments are put before the user's; nil for none.
	arguments func(base string, in place) []string
	// recall are arguments that tell the agent of the MCP server; nil if variables or files do it. All users of the
	// machine can read them, so they name the variable that has the token.
	recall func(base string) []string
	// origins reads where the agent's own configuration sends its requests; nil for nothing that can be read.
	origins func(in place) origins
	// unread is set if the agent reads none of the variables that others do, but its own.
	unread bool
	// variablesFirst is set if variables go before that configuration.
	variablesFirst bool
	// past says why the agent's requests will not come through the proxy; nil if nothing is known.
	past  func(in place) string
	files []agentFile
}

type proxyAt struct {
	// base is the proxy's address, and token what its MCP server takes requests with; "" if it has none.
	base, token string
}

// mcp returns the address of the MCP server with the token in it, which no other user may see; "" if there is none.
func (p proxyAt) mcp() string {
	if p.token == "" {
		return ""
	}
	return p.base + "/t/" + p.token + mcp.Path
}

// agentFile is a file that one run of an agent gets, in a directory that is removed when the agent has ended. The
// user's own file is read but never written.
type agentFile struct {
	// name is the file's name. text makes its content from the addresses of the proxy and of the MCP server, "" for
	// none. Without content there is no file; an error keeps the agent from being started.
	name string
	text func(base, recall string, in place) ([]byte, error)
	// The agent gets the file's path behind this argument, or in this variable, behind what a variable that is a list has.
	argument, variable string
	list               bool
}

// variable is an environment variable that holds a base URL. path is what the agent expects in it: some add the version
// of the API themselves. Without an upstream the variable is not a plain URL.
type variable struct {
	name, path string
	upstream   string
}

var (
	anthropicURL = variable{"ANTHROPIC_BASE_URL", "", "anthropic"}
	openaiURL    = variable{"OPENAI_BASE_URL", "/v1", "openai"}
	geminiURL    = variable{"GOOGLE_GEMINI_BASE_URL", "", "gemini"}
)

var gooseVariables = []variable{{"ANTHROPIC_HOST", "", "anthropic"}, {"OPENAI_HOST", "", "openai"},
	{"GOOGLE_HOST", "", "gemini"}}

// mcpURL is the variable that tells any agent where the MCP server is, and mcpToken has the token in that address, for
// a header. No agent reads them by itself: arguments, scripts and people's configurations refer to them.
const mcpURL, mcpToken = "THRESH_MCP_URL", "THRESH_MCP_TOKEN"

// agents are those known by the name of their command. 'make test-clients' runs those that can be installed, and
// fails if one does not come through the proxy.
var agents = []wrapping{
	{command: "claude", how: "ANTHROPIC_BASE_URL, ENABLE_TOOL_SEARCH=true", provider: "anthropic",
		variables: []variable{anthropicURL},
		// A base URL that is not Anthropic's switches tool search off, which doubles the request.
		others: []string{"ENABLE_TOOL_SEARCH=true"},
		lost: "tool search is off without ENABLE_TOOL_SEARCH=true; Remote Control is off; a window of 1 M tokens " +
			"counts as 200 k unless the model is named with [1m], as in --model 'opus[1m]'",
		arguments: claudeArguments, origins: claudeOrigins, past: claudePast,
		// Each in one argument: given apart, the options take the words behind them too. alwaysLoad spares the model a
		// search for the tool; a tool that is not allowed is one that the user is asked about.
		recall: func(string) []string {
			return []string{`--mcp-config={"mcpServers":{"thresh":{"type":"http","url":"${` + mcpURL +
				`}","alwaysLoad":true}}}`, "--allowedTools=mcp__thresh__" + mcp.Tool}
		}},
	{command: "codex", how: "-c openai_base_url=…, or the base_url of your model_provider", provider: "openai",
		arguments: codexArguments, origins: codexOrigins,
		recall: func(base string) []string {
			return []string{"-c", `mcp_servers.thresh.url="` + base + mcp.Path + `"`,
				"-c", `mcp_servers.thresh.env_http_headers={"X-Thresh-Token"="` + mcpToken + `"}`}
		}},
	{command: "opencode", how: "OPENCODE_CONFIG_CONTENT with the base URL of each provider",
		origins: opencodeOrigins, variables: []variable{{opencodeContent, "", ""}}},
	{command: "gemini", how: "GOOGLE_GEMINI_BASE_URL", provider: "gemini", variables: []variable{geminiURL},
		origins: geminiOrigins, variablesFirst: true, past: geminiPast},
	{command: "qwen", how: "OPENAI_BASE_URL", provider: "openai", variables: []variable{openaiURL},
		origins: qwenOrigins, variablesFirst: true, files: []agentFile{{name: "mcp.json", text: qwenServers, argument: "--mcp-config"}}},
	{command: "pi", how: "--extension with the base URL of each provider", origins: piOrigins, unread: true,
		files: []agentFile{{name: "thresh.js", text: piExtension, argument: "--extension"}}},
	{command: "cline", how: "CLINE_PROVIDER_SETTINGS_PATH with the base URL of each provider", provider: "openai",
		// Otherwise cline works in a process that it leaves behind for its next run, with this proxy's address, or in
		// an earlier run's, which knows no proxy.
		others:  []string{"CLINE_SESSION_BACKEND_MODE=local"},
		origins: clineOrigins,
		files: []agentFile{
			{name: "providers.json", text: clineSettings, variable: "CLINE_PROVIDER_SETTINGS_PATH"},
			{name: "mcp.json", text: clineServers, variable: "CLINE_MCP_SETTINGS_PATH"},
		}},
	{command: "goose", how: "ANTHROPIC_HOST, OPENAI_HOST, GOOGLE_HOST", origins: gooseOrigins, unread: true,
		variablesFirst: true, variables: gooseVariables,
		files: []agentFile{{name: "goose.yaml", text: gooseServers, variable: "GOOSE_ADDITIONAL_CONFIG_FILES", list: true}}},
}

// anyAgent is for unknown commands: most programs read one of these.
var anyAgent = wrapping{variables: []variable{anthropicURL, {"ANTHROPIC_API_URL", "", "anthropic"}, openaiURL,
	{"OPENAI_API_BASE", "/v1", "openai"}, geminiURL}}

// wrappingOf returns how the agent with a command is told. See [commandName].
func wrappingOf(command string) wrapping {
	name := commandName(command)
	if i := slices.IndexFunc(agents, func(w wrapping) bool { return w.command == name }); i >= 0 {
		return agents[i]
	}
	w := anyAgent
	w.origins, w.variablesFirst = anyOrigins, true
	return w
}

// commandName is the name of an agent's command, without its path and without the suffix that Windows adds.
func commandName(command string) string {
	name := command[strings.LastIndexAny(command, separators)+1:]
	for _, suffix := range []string{".exe", ".cmd"} {
		if at := len(name) - len(suffix); at > 0 && strings.EqualFold(name[at:], suffix) {
			return name[:at]
		}
	}
	return name
}

// start returns the agent's command, not yet started, with the addresses of the proxy and the MCP server, if there is
// one. end removes the directory of its files; call it after the agent has ended, or failed to start.
func (w wrapping) start(command []string, at proxyAt, in place) (agent *exec.Cmd, end func(), err error) {
	program, err := in.lookPath(command[0])
	if err != nil {
		return nil, nil, err
	}
	args := slices.Clone(command[1:])
	if at.token != "" && w.recall != nil {
		args = append(w.recall(at.base), args...)
	}
	if w.arguments != nil {
		args = append(w.arguments(at.base, in), args...)
	}
	// The agent's environment is the user's own: keys are in it.
	env := w.environ(at, in)
	end = func() {}
	if len(w.files) > 0 {
		// Private, as an agent's settings may hold keys. If this process is killed, the next start of any host removes
		// it.
		dir, err := rundir.New(in.temp())
		if err != nil {
			return nil, nil, err
		}
		end = func() { _ = dir.Remove() }
		for _, f := range w.files {
			path := filepath.Join(dir.Path, f.name)
			text, err := f.text(at.base, at.mcp(), in)
			if err == nil && text != nil {
				err = os.WriteFile(path, text, 0o600)
			}
			switch {
			case err != nil:
				end()
				return nil, nil, err
			case text == nil:
			case f.argument != "":
				args = append([]string{f.argument, path}, args...)
			default:
				if own := in.getenv(f.variable); f.list && own != "" {
					path = own + string(filepath.ListSeparator) + path
				}
				env = append(env, f.variable+"="+path)
			}
		}
	}
	if agent, err = agentCommand(program, args, in); err != nil {
		end()
		return nil, nil, err
	}
	if agent.Path == program {
		agent.Args[0] = command[0]
	}
	agent.Dir, agent.Env = in.dir, env
	return agent, end, nil
}

func (w wrapping) values(at proxyAt, in place) (out []string) {
	for _, v := range w.variables {
		value := at.base + v.path
		if v.name == opencodeContent {
			own, _ := opencodeOwn(in.getenv(opencodeContent)) // check has returned the error
			value = opencodeConfig(at.base, at.mcp(), own)
		}
		out = append(out, v.name+"="+value)
	}
	if at.token != "" {
		out = append(out, mcpURL+"="+at.mcp(), mcpToken+"="+at.token)
	}
	return out
}

// environ returns the agent's environment. The last value of a name counts, so base URLs of the user are replaced;
// upstreamsFor has read them.
func (w wrapping) environ(at proxyAt, in place) []string {
	out := append(slices.Clone(in.env), w.values(at, in)...)
	// Preferences and not addresses: a user who has set one means it.
	for _, v := range w.others {
		name, _, _ := strings.Cut(v, "=")
		if _, set := in.lookupEnv(name); !set {
			out = append(out, v)
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		// Both spellings, since programs differ in which they read.
		value := "127.0.0.1,localhost"
		if old := in.getenv(name); old != "" {
			value = old + "," + value
		}
		out = append(out, name+"="+value)
	}
	return out
}

const opencodeContent = "OPENCODE_CONFIG_CONTENT"

// opencodeOwn reads what the user has in the variable of opencode's configuration; nil for nothing.
func opencodeOwn(text string) (own map[string]any, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if err := json.Unmarshal(jsonc.ToJSON([]byte(text)), &own); err != nil {
		return nil, fmt.Errorf("%s cannot be merged with the addresses of thresh: %w", opencodeContent, err)
	}
	return own, nil
}

// opencodeConfig is a configuration that opencode merges with the user's. It is in a variable: no file of the user's is
// touched. own is what the user has in that variable; it is changed.
func opencodeConfig(base, recall string, own map[string]any) string {
	server := ""
	if recall != "" {
		server = fmt.Sprintf(`,"mcp":{"thresh":{"type":"remote","url":"%s"}}`, recall)
	}
	text := fmt.Sprintf(`{"provider":{"anthropic":{"options":{"baseURL":"%[1]s/v1"}},`+
		`"openai":{"options":{"baseURL":"%[1]s/v1"}},"google":{"options":{"baseURL":"%[1]s/v1beta"}}}%[2]s}`,
		base, server)
	var ours map[string]any
	if json.Unmarshal([]byte(text), &ours) != nil || own == nil {
		return text
	}
	merge(own, ours)
	merged, err := json.Marshal(own)
	if err != nil { // all of it was read from JSON
		return text
	}
	return strings.ReplaceAll(string(merged), "'", `\u0027`) // as --print quotes it for a shell
}

// merge sets in one object what another one has, and goes into objects that are in both.
func merge(into, from map[string]any) {
	for name, value := range from {
		a, both := into[name].(map[string]any)
		if b, object := value.(map[string]any); both && object {
			merge(a, b)
		} else {
			into[name] = value
		}
	}
}

// codexArguments set the base URL of Codex's provider: its own, or the one that the user's configuration chooses. -c
// sets a key of Codex's configuration for one run.
func codexArguments(base string, in place) []string {
	key := "openai_base_url"
	if file, _, _ := codexConfig(in); file.Provider != "openai" {
		key = "model_providers." + file.Provider + ".base_url"
	}
	return []string{"-c", fmt.Sprintf("%s=%q", key, base+"/v1")}
}

func chatGPT(in place) bool {
	var login struct {
		Mode   string `json:"auth_mode"`
		Key    string `json:"OPENAI_API_KEY"`
		Tokens *struct{}
	}
	text, err := os.ReadFile(filepath.Join(codexHome(in), "auth.json"))
	if err != nil || json.Unmarshal(text, &login) != nil || in.getenv("CODEX_API_KEY") != "" {
		return false
	}
	return strings.EqualFold(login.Mode, "chatgpt") || login.Mode == "" && login.Key == "" && login.Tokens != nil
}

func codexHome(in place) string {
	return in.path(cmp.Or(in.getenv("CODEX_HOME"), filepath.Join(in.home(), ".codex")))
}

// gooseConfig finds a variable in goose's configuration, in the plain form of a line in which goose writes it.
func gooseConfig(name string, in place) string {
	text, err := os.ReadFile(in.path(filepath.Join(cmp.Or(in.getenv("XDG_CONFIG_HOME"), filepath.Join(in.home(), ".config")),
		"goose", "config.yaml")))
	if err != nil {
		return ""
	}
	m := regexp.MustCompile(`(?m)^` + name + `:\s*["']?([^"'\s#]+)`).FindSubmatch(text)
	if m == nil {
		return ""
	}
	return string(m[1])
}
