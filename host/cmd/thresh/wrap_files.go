package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// piExtension is a program that pi loads: pi takes base URLs from extensions. It has no client of MCP, so the program
// offers each tool of the server as a tool of pi's.
func piExtension(base, recall string, _ place) ([]byte, error) {
	return fmt.Appendf(nil, `export default async (pi) => {
	pi.registerProvider("anthropic", { baseUrl: %q });
	pi.registerProvider("openai", { baseUrl: %q });
	pi.registerProvider("google", { baseUrl: %q });
	const server = %q;
	if (!server) return;
	const ask = async (method, params, signal) => {
		const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
		return (await (await fetch(server, { method: "POST", body, signal })).json()).result;
	};
	for (const { name, title, description, inputSchema } of (await ask("tools/list", {})).tools) {
		pi.registerTool({ name, label: title, description, parameters: inputSchema,
			async execute(_id, args, signal) {
				const { content, isError } = await ask("tools/call", { name, arguments: args }, signal);
				if (isError) throw new Error(content[0].text);
				return { content, details: {} };
			} });
	}
};
`, base, base+"/v1", base+"/v1beta", recall), nil
}

// qwenServers is an argument's file: in the argument itself other users of the machine would see the address.
func qwenServers(_, recall string, _ place) ([]byte, error) {
	if recall == "" {
		return nil, nil
	}
	return fmt.Appendf(nil, `{"mcpServers":{"thresh":{"httpUrl":%q,"trust":true}}}`, recall), nil
}

// gooseServers goes before the user's file, which goose merges with it and alone writes to. It names the variable:
// goose keeps the servers of a session for the day it is resumed, with another run's address.
func gooseServers(_, recall string, _ place) ([]byte, error) {
	if recall == "" {
		return nil, nil
	}
	return fmt.Appendf(nil, `{"extensions":{"thresh":{"enabled":true,"type":"streamable_http","name":"thresh",`+
		`"description":"Finds what was removed from the conversation","uri":"$%[1]s","env_keys":[%[1]q]}}}`, mcpURL), nil
}

// clineServers are the user's MCP servers for cline, and ours. Servers with a login are left out: cline would renew
// their tokens in a temporary file, and the user's would be void.
func clineServers(_, recall string, in place) ([]byte, error) {
	if recall == "" {
		return nil, nil
	}
	settings := map[string]any{}
	path := cmp.Or(in.getenv("CLINE_MCP_SETTINGS_PATH"),
		filepath.Join(clineSettingsDir(in), "cline_mcp_settings.json"))
	if err := readSettings(in.path(path), &settings); err != nil {
		return nil, err
	}
	servers, ok := settings["mcpServers"].(map[string]any)
	if !ok {
		servers = map[string]any{}
	}
	maps.DeleteFunc(servers, func(_ string, v any) bool {
		s, _ := v.(map[string]any)
		return s["oauth"] != nil
	})
	servers["thresh"] = map[string]any{"type": "streamableHttp", "url": recall}
	settings["mcpServers"] = servers
	return json.Marshal(settings)
}

func readSettings(path string, to any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("cline's settings: %s: %w", path, err)
	}
	return nil
}

// clineFile is the file in which cline keeps the settings of its providers. modes is passed on unread.
type clineFile struct {
	Version   int                      `json:"version"`
	Last      string                   `json:"lastUsedProvider,omitempty"`
	Modes     json.RawMessage          `json:"modes,omitempty"`
	Providers map[string]clineProvided `json:"providers"`
}

// clineProvided is one provider. Unknown fields are kept. Keys and other secrets are among them: none is logged, and
// only this user can read the file.
type clineProvided map[string]any

func (p clineProvided) settings() map[string]any { s, _ := p["settings"].(map[string]any); return s }

// clineOwn is cline's provider with an address of the user's. All others have a built-in address.
const clineOwn = "openai-compatible"

// clinePaths are the base URLs that cline's providers get: with the version, as cline takes them.
var clinePaths = map[string]string{"anthropic": "/v1", "openai-native": "/v1", "gemini": "/v1beta", clineOwn: "/v1"}

func clineSettingsDir(in place) string {
	own := cmp.Or(in.getenv("CLINE_DIR"), filepath.Join(in.home(), ".cline"))
	return filepath.Join(cmp.Or(in.getenv("CLINE_DATA_DIR"), filepath.Join(own, "data")), "settings")
}

func readCline(in place) (clineFile, error) {
	path := cmp.Or(in.getenv("CLINE_PROVIDER_SETTINGS_PATH"), filepath.Join(clineSettingsDir(in), "providers.json"))
	file := clineFile{Version: 1}
	err := readSettings(in.path(path), &file)
	return file, err
}

// clineProvider returns the address of the user's own provider; "" if there is none. clineSettings reports what is
// wrong with the file.
func clineProvider(in place) string {
	file, _ := readCline(in)
	address, _ := file.Providers[clineOwn].settings()["baseUrl"].(string)
	return address
}

// clineSettings is the user's file with other base URLs, for cline to read and write in its place. Providers with a
// login are left out: cline would renew their tokens in a temporary file, and the user's would be void.
func clineSettings(base, _ string, in place) ([]byte, error) {
	file, err := readCline(in)
	if err != nil {
		return nil, err
	}
	was := file.Providers
	own := clineProvider(in) != ""
	file.Providers = map[string]clineProvided{}
	for name, path := range clinePaths {
		p := was[name]
		if p == nil {
			p = clineProvided{"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
		}
		set := p.settings()
		if set == nil {
			set = map[string]any{"provider": name}
		}
		// One upstream for OpenAI's APIs: the user's own provider if there is one, else OpenAI.
		if set["auth"] != nil || own && name == "openai-native" || !own && name == clineOwn {
			continue
		}
		set["baseUrl"] = base + path
		p["settings"] = set
		file.Providers[name] = p
	}
	if file.Providers[file.Last] == nil {
		file.Last = ""
	}
	return json.Marshal(file)
}
