package tools

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed presets/*.json
var presetFiles embed.FS

// presetOrder is the default order of presets. Where two agents have tools of the same name, rules tell them apart by
// their parameters; gemini-cli is before llxprt because its read_many_files may read more than "paths" says.
// vscode-copilot and amp are first: their rules for shared names require their parameters.
var presetOrder = [...]string{
	"vscode-copilot", "amp", "gemini-cli", "llxprt", "claude-code", "codex", "copilot-cli", "cline", "opencode",
	"crush", "openhands", "pi", "goose", "swe-agent", "mini-swe-agent", "mcp-filesystem", "mcp-github",
}

// PresetNames returns the names of all presets, one for each agent (and for common MCP servers), in their default
// order.
func PresetNames() []string { return slices.Clone(presetOrder[:]) }

// Preset returns the rules for the tools of one agent; ok is false if there is no such preset.
func Preset(name string) (rules []Rule, ok bool) {
	if !slices.Contains(presetOrder[:], name) {
		return nil, false
	}
	data, err := presetFiles.ReadFile("presets/" + name + ".json")
	if err == nil {
		rules, err = ParseRules(data)
	}
	if err != nil {
		panic("tools: preset " + name + ": " + err.Error()) // built in, and tested
	}
	return rules, true
}

// ForPresets returns the taxonomy of the rules in extra followed by the presets names in that order. An unknown preset
// is an error that lists them; a wrong rule in extra is a [*RuleError] with its position there.
func ForPresets(names []string, extra []Rule) (*Taxonomy, error) {
	rules := slices.Clone(extra)
	for _, name := range names {
		preset, ok := Preset(name)
		if !ok {
			return nil, fmt.Errorf("there is no tool preset %q; there are %s", name, strings.Join(presetOrder[:], ", "))
		}
		rules = append(rules, preset...)
	}
	t, err := New(rules...)
	if err != nil {
		return nil, err
	}
	for _, r := range t.rules[len(extra):] {
		r.preset = true
	}
	return t, nil
}
