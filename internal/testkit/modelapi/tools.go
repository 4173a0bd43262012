package modelapi

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tool is a tool that a request offers. name and space are as the request has them; a call must repeat both.
type tool struct {
	name, kind string // kind is "custom" for a tool that takes any text
	space      string // the namespace of the tool; "" for most
	schema     object
}

// names are patterns of the names of tools that can do something, the best first. They cover the agents that the tests
// run: a tool of a new agent needs a pattern here.
var names = map[string][]*regexp.Regexp{
	"read": patterns(`(?i)^read$`, `^view$`, `^read_file$`, `(?i)readfile`, `^read_files$`),
	"edit": patterns(`(?i)^edit$`, `^replace$`, `^replace_in_file$`, `^apply_patch$`, `^editor$`, `^edit_file$`),
	"run": patterns(`(?i)^bash$`, `^run_shell_command$`, `^execute_command$`, `^exec_command$`, `^shell_command$`,
		`^shell$`, `^run_commands$`, `^run_terminal`, `^exec$`),
	"delegate": patterns(`^Task$`, `^Agent$`, `^task$`, `^spawn_agent$`),
	"wait":     patterns(`^wait_agent$`),
	"find":     patterns(`^tool_search$`),
	"recall":   patterns(`thresh_recall$`),
}

// patterns compiles the patterns of one action.
func patterns(list ...string) (out []*regexp.Regexp) {
	for _, p := range list {
		out = append(out, regexp.MustCompile(p))
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }

// act finds a tool for an action and its parameters. What no tool can do is done in a shell. false if there is no shell
// either. The script's texts have no characters that sed or the shell would take for their own. p holds the tools that
// the request offers, and what the last result said was removed.
func (s *Server) act(a Action, p prompt) (say, bool) {
	path := filepath.Join(s.options.Dir, a.Path)
	values := map[string]string{"command": a.Command, "path": path, "old": a.Old, "new": a.New,
		"agent": "general-purpose", "task": "Look at the project."}
	t, ok := find(p.tools, a.Do)
	if a.Do == "find" {
		return say{name: t.name, args: object{"query": "thresh_recall"}}, ok
	}
	if a.Do == "recall" {
		asked := object{"id": p.removed}
		if a.Query != "" {
			asked = object{"query": a.Query}
		}
		can := a.Query != "" || p.removed != ""
		if run, has := find(p.tools, "run"); !ok && has && run.kind == "custom" {
			return script(run, `const t = ALL_TOOLS.find(t => t.name.endsWith("thresh_recall"));`+
				` text(await tools[t.name](`+encoded(asked)+`));`), can
		}
		return say{name: t.name, space: t.space, args: asked}, ok && can
	}
	if t.name == "task" { // opencode's
		values["agent"] = "general"
	}
	if truth(obj(obj(t.schema["properties"])["message"])["encrypted"]) { // what agents say to agents, clients cannot read
		values["task"] = s.issue(values["task"])
	}
	if ok && a.Do == "run" {
		return running(t, values), true
	}
	if ok {
		// A tool that takes text gets a patch, which is the only such tool that agents have.
		if t.kind == "custom" {
			return say{name: t.name, space: t.space, kind: t.kind, input: patch(path, a.Old, a.New)}, true
		}
		return say{name: t.name, space: t.space, kind: t.kind, args: fill(t.schema, values, a.Do)}, true
	}
	// A subagent cannot be had from a shell.
	if t, ok = find(p.tools, "run"); !ok || a.Do == "delegate" || a.Do == "wait" {
		return say{}, false
	}
	switch a.Do {
	case "read":
		values["command"] = "cat " + path
	case "edit":
		values["command"] = "sed -i 's/" + a.Old + "/" + a.New + "/' " + path
	}
	return running(t, values), true
}

// running is a call of a shell, or of Codex's tool that runs JavaScript, in which the shell is a function.
func running(t tool, values map[string]string) say {
	if t.kind == "custom" {
		return script(t, "const r = await tools.exec_command({cmd: "+encoded(values["command"])+"});\ntext(r.output);")
	}
	return say{name: t.name, space: t.space, kind: t.kind, args: fill(t.schema, values, "run")}
}

// script is a call of a tool that runs JavaScript.
func script(t tool, program string) say {
	return say{name: t.name, space: t.space, kind: t.kind, input: program}
}

// The order of the patterns decides, not that of the tools: agents offer several tools that could do.
func find(tools []tool, do string) (tool, bool) {
	for _, p := range names[do] {
		for _, t := range tools {
			if p.MatchString(t.name) {
				return t, true
			}
		}
	}
	return tool{}, false
}

// The format is that of apply_patch, with the four spaces of an indented line of Python.
func patch(path, old, new string) string {
	return "*** Begin Patch\n*** Update File: " + path + "\n@@\n-    " + old + "\n+    " + new + "\n*** End Patch\n"
}

// fill makes parameters by the meaning of their names in a schema. A parameter that is neither understood nor required
// is left out; the agent's default is better than a guess. values has the texts by what they mean: command, path, old,
// new, agent, task.
func fill(schema object, values map[string]string, do string) object {
	properties, _ := schema["properties"].(object)
	required := map[string]bool{}
	for _, r := range list(schema["required"]) {
		required[text(r)] = true
	}
	out := object{}
	for name, p := range properties {
		// Names are compared in lower case; the call has the schema's own.
		property, _ := p.(object)
		if v, ok := value(strings.ToLower(name), property, values, do); ok {
			out[name] = v
		} else if required[name] {
			out[name] = filler(property)
		}
	}
	return out
}

// false if the name says nothing here. Names differ between agents: file_path, path, filename, absolute_path. A
// parameter may be a list, or a list of objects with the parameters in them.
func value(name string, property object, values map[string]string, do string) (any, bool) {
	kind := strings.ToLower(text(property["type"]))
	several := func(s string) any {
		if kind == "array" {
			if item, ok := property["items"].(object); ok && strings.ToLower(text(item["type"])) == "object" {
				return []any{fill(item, values, do)}
			}
			return []any{s}
		}
		return s
	}
	switch {
	case do == "wait" && name == "timeout_ms": // until the subagent has ended
		return time.Hour.Milliseconds(), true
	// No text fits; such parameters are limits and switches.
	case kind == "boolean" || kind == "number" || kind == "integer":
		return nil, false
	case do == "edit" && (strings.Contains(name, "old") || strings.Contains(name, "search") || name == "before"):
		return values["old"], true
	case do == "edit" && (strings.HasPrefix(name, "new") || name == "after"):
		return values["new"], true
	case do == "edit" && name == "edits":
		return several(""), true
	case do != "run" && (strings.Contains(name, "path") || name == "file" || name == "files" || name == "filename"):
		return several(values["path"]), true
	case do == "delegate" && name == "subagent_type":
		return values["agent"], true
	case do == "delegate" && (name == "message" || name == "prompt"):
		return values["task"], true
	case do == "run" && (name == "command" || name == "cmd" || name == "commands" || name == "script"):
		// Some shells take a list of arguments, not a command line.
		if kind == "array" && name == "command" {
			return []any{"bash", "-lc", values["command"]}, true
		}
		return several(values["command"]), true
	}
	return nil, false
}

// filler is a value for a parameter that is required and not understood. It only has to pass the agent's own check of
// the schema.
func filler(property object) any {
	if allowed := list(property["enum"]); len(allowed) > 0 {
		return allowed[0]
	}
	switch strings.ToLower(text(property["type"])) {
	case "boolean":
		return false
	case "number", "integer":
		return 1
	case "array":
		return []any{}
	case "object":
		return object{}
	}
	return "step_of_the_script" // some are names, without spaces
}

// list and text read JSON values; nil and "" for other kinds.
func list(v any) []any  { l, _ := v.([]any); return l }
func text(v any) string { s, _ := v.(string); return s }
func obj(v any) object  { o, _ := v.(object); return o }
func truth(v any) bool  { b, _ := v.(bool); return b }
