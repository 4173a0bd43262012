package modelapi

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Messages of role system within a conversation
// (platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages). Neighbours are one section.

// sectioned are the names of models that take the role.
var sectioned = regexp.MustCompile(`(fable|mythos)-5|opus-(4-8|5)|(sonnet|haiku)-5-5`)

// The headers that the beta parts of the feature demand.
const (
	clearBeta  = "mid-conversation-system-clear-at-2026-08-21"
	effortBeta = "mid-conversation-output-config-2026-07-01"
	toolsBeta  = "mid-conversation-tool-changes-2026-07-01"
	inlineBeta = "inline-tools-2026-09-15" // covers toolsBeta
)

// anywhere is the end of both refusals of a place.
const anywhere = "; the directive-only form (content: [] with output_config) is accepted at any position"

// sections judges the places of messages of the system, and what they hold.
func (messages) sections(r *http.Request, body object, all []any) error {
	for i := 0; i < len(all); i++ {
		from, content := i, false
		for ; i < len(all) && text(obj(all[i])["role"]) == "system"; i++ {
			// The header was needed before models with the feature were known by name.
			if !sectioned.MatchString(text(body["model"])) && !beta(r, "mid-conversation-system") {
				return badRequest("role 'system' is not supported on this model")
			}
			m := obj(all[i])
			if err := section(r, i, m, paused(all, from)); err != nil {
				return err
			}
			content = content || len(contentBlocks(m["content"])) > 0
		}
		if i < len(all) && obj(all[i])["clear_at"] != nil {
			return badRequest("messages.%d.clear_at: clear_at is only permitted on role 'system' messages", i)
		}
		if i == from || !content {
			continue
		}
		if from == 0 || text(obj(all[from-1])["role"]) != "user" && !paused(all, from) {
			return badRequest("messages.%d: role 'system' must follow a 'user' message or an 'assistant' message "+
				"ending in a server tool result"+anywhere, from)
		}
		if i < len(all) && text(obj(all[i])["role"]) != "assistant" {
			return badRequest("messages.%d: role 'system' must precede an 'assistant' message or end the array"+
				anywhere, i-1)
		}
	}
	return nil
}

// section judges one message of the system; paused: it follows a turn of the model that a server's tool paused.
func section(r *http.Request, i int, m object, paused bool) error {
	scoped := m["clear_at"] == "next_user_message"
	switch {
	case m["clear_at"] != nil && !beta(r, clearBeta):
		return badRequest("messages.%d.clear_at: Extra inputs are not permitted", i)
	case m["clear_at"] != nil && !scoped && m["clear_at"] != "never":
		return badRequest("messages.%d.clear_at: Input should be 'next_user_message' or 'never'", i)
	case m["output_config"] != nil && !beta(r, effortBeta):
		return badRequest("messages.%d.output_config: Extra inputs are not permitted", i)
	case m["output_config"] != nil && scoped:
		return badRequest("messages.%d: output_config is not permitted on a turn-scoped system message "+
			"(clear_at: 'next_user_message')", i)
	}
	for j, b := range contentBlocks(m["content"]) {
		kind := text(b["type"])
		switch changes := kind == "tool_addition" || kind == "tool_removal"; {
		case scoped && kind != "text":
			return badRequest("messages.%d: a turn-scoped system message supports text blocks only "+
				"(clear_at: 'next_user_message')", i)
		case scoped && b["cache_control"] != nil:
			return badRequest("messages.%d.content.%d: cache_control is not permitted on a turn-scoped system "+
				"message (clear_at: 'next_user_message')", i, j)
		case changes && !beta(r, toolsBeta) && !beta(r, inlineBeta):
			return badRequest("messages.%d.content.%d: Input tag '%s' found using 'type' does not match any of the "+
				"expected tags", i, j, kind)
		case changes && paused:
			return badRequest("messages.%d.content.%d: %s blocks cannot follow a paused assistant turn", i, j, kind)
		case !changes && kind != "text":
			return badRequest("messages.%d.content.%d: Input tag '%s' is not known in a 'system' message", i, j, kind)
		}
	}
	return nil
}

// paused reports whether the message before one ends in the result of a tool that the provider ran.
func paused(all []any, at int) bool {
	if at == 0 || text(obj(all[at-1])["role"]) != "assistant" {
		return false
	}
	blocks := contentBlocks(obj(all[at-1])["content"])
	return len(blocks) > 0 && serverResult(text(blocks[len(blocks)-1]["type"]))
}

func serverResult(kind string) bool { return strings.HasSuffix(kind, "_tool_result") }

// directive reports whether a message only changes a setting, and may be empty.
func directive(m object) bool { return text(m["role"]) == "system" && m["output_config"] != nil }

// cleared reports whether a message was for one turn that is over: it renders nothing.
func cleared(all []any, i int) bool {
	return obj(all[i])["clear_at"] == "next_user_message" && slices.ContainsFunc(all[i:], func(v any) bool {
		return text(obj(v)["role"]) == "user"
	})
}

// change applies a change of the tools to those that the script may call. The error is for a tool that is not declared.
func (p *prompt) change(i, j int, b object, declared []any) error {
	named := obj(b["tool"])
	if added := obj(named["definition"]); text(b["type"]) == "tool_addition" && added["name"] != nil {
		p.tools = append(p.tools, tool{name: text(added["name"]), schema: obj(added["input_schema"])})
		return nil
	}
	name := text(named["name"])
	is := func(t any) bool { return text(obj(t)["name"]) == name }
	at := slices.IndexFunc(declared, is)
	if text(named["type"]) == "tool_reference" && at < 0 {
		return badRequest("messages.%d.content.%d.tool: tool '%s' is not declared in `tools`", i, j, name)
	}
	p.tools = slices.DeleteFunc(p.tools, func(t tool) bool { return t.name == name })
	if text(b["type"]) == "tool_addition" && at >= 0 {
		p.tools = append(p.tools, tool{name: name, schema: obj(obj(declared[at])["input_schema"])})
	}
	return nil
}
