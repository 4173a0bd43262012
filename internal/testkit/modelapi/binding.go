package modelapi

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Anthropic's newest models take thinking back only behind what it was issued behind
// (platform.claude.com/docs/en/build-with-claude/preserved-thinking). Each request that brings it back is compared with
// the request that it was the answer to: tools, system prompt, and all that the messages before it hold but thinking.
// Of the thinking before it, the oldest may be absent, and nothing else.

// names of models that bind thinking, and think by themselves where a request does not say whether to.
var binding = regexp.MustCompile(`(fable|mythos)-5-[12]\b|(opus|sonnet|haiku)-5-5\b`)

// bindingBeta lets a request choose what happens to thinking that does not fit, and tells what did.
const bindingBeta = "thinking-binding-controls-2026-08-01"

func (s *Server) binds(body object) bool {
	return s.options.Binds || binding.MatchString(text(body["model"]))
}

// prefix is what stands before a block. Each sum goes on from the one before, so that a prefix is known by its end. The
// zero value has nothing in it.
type prefix struct {
	head, sum [sha256.Size]byte // of tools and system prompt, and of the messages
	role      string            // neighbours of one role are one message, as the API joins them
	thinking  int               // how many blocks of thinking there are, and which is the last
	last      string
}

// newPrefix has the tools, in any order, and the system prompt. A tool whose loading is deferred is not in it: what
// makes it known is in a message.
func newPrefix(body object) prefix {
	var tools []string
	for _, t := range list(body["tools"]) {
		if !truth(obj(t)["defer_loading"]) {
			tools = append(tools, encoded(canonical(t)))
		}
	}
	slices.Sort(tools)
	return prefix{head: sha256.Sum256([]byte(strings.Join(tools, "\n") + encoded(canonical(body["system"]))))}
}

// add takes in a block of a message.
func (p *prefix) add(role string, b object) {
	if id := thinkingID(b); id != "" {
		p.thinking, p.last = p.thinking+1, id
		return
	}
	if role != p.role {
		p.role = role
		p.sum = sha256.Sum256([]byte(string(p.sum[:]) + role))
	}
	p.sum = sha256.Sum256([]byte(string(p.sum[:]) + encoded(canonical(b))))
}

// takes reports whether a block that was issued behind was may stand behind p.
func (p *prefix) takes(was prefix) bool {
	return p.head == was.head && p.sum == was.sum &&
		(p.thinking == 0 || p.thinking <= was.thinking && p.last == was.last)
}

// thinkingID is what a block of thinking is known by: its signature, or what is encrypted in it; "" for other blocks.
func thinkingID(b object) string {
	switch text(b["type"]) {
	case "thinking":
		return text(b["signature"])
	case "redacted_thinking":
		return text(b["data"])
	}
	return ""
}

// canonical is a value without what makes no difference: cache markers, and whether a content is a text or one block of
// text. The parameters of a call and of a tool are data, whatever their names.
func canonical(v any) any {
	switch v := v.(type) {
	case string:
		return []any{object{"type": "text", "text": v}}
	case []any:
		out := make([]any, len(v))
		for i, b := range v {
			out[i] = canonical(b)
		}
		return out
	case object:
		out := object{}
		for k, field := range v {
			switch {
			case k == "content":
				out[k] = canonical(field)
			case k != "cache_control":
				out[k] = field
			}
		}
		return out
	}
	return v
}

// behind goes through the messages of a request. It returns what its answer stands behind, and the blocks that the API
// drops, by message and place in it; the error refuses the request. The lock is held.
func (messages) behind(s *Server, r *http.Request, body object) (p prefix, dropped map[[2]int]bool, err error) {
	p, dropped = newPrefix(body), map[[2]int]bool{}
	checks, drops := s.binds(body), text(blockBinding(body)["prefix_mismatch_behavior"]) == "drop_block"
	for i, m := range list(body["messages"]) {
		role := text(obj(m)["role"])
		if role == "system" { // how it is applied is part of it, and so are its settings
			p.add(role, object{"clear_at": obj(m)["clear_at"], "output_config": obj(m)["output_config"]})
		}
		for j, b := range contentBlocks(obj(m)["content"]) {
			if was, ok := s.summaries[text(b["signature"])]; ok && text(b["type"]) == "compaction" {
				p.sum, p.role = was.sum, was.role // it stands for the messages that it summarizes
				continue
			}
			if checks && text(b["type"]) == "redacted_thinking" && s.issued[text(b["data"])] == "" {
				return p, nil, badRequest("messages.%d.content.%d: Invalid `data` in `redacted_thinking` block", i, j)
			}
			was, known := s.bound[thinkingID(b)]
			if known && checks && !p.takes(was) {
				if drops {
					dropped[[2]int{i, j}] = true
					continue
				}
				return p, nil, unbound(r, i, j, b, p.head != was.head)
			}
			p.add(role, b)
		}
	}
	return p, dropped, nil
}

// unbound is the refusal. head: the system prompt or the tools are others.
func unbound(r *http.Request, i, j int, b object, head bool) error {
	words := "messages.%d.content.%d: Invalid `%s` in `%s` block. The block is bound to a different conversation. " +
		"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
	if !beta(r, bindingBeta) {
		words += " That setting requires the `" + bindingBeta + "` value in the `anthropic-beta` header."
	}
	if head {
		words += " The `system` prompt or the `tools` list differs from when the block was created."
	}
	field := map[string]string{"thinking": "signature", "redacted_thinking": "data"}[text(b["type"])]
	return badRequest(words, i, j, field, text(b["type"]))
}

// bind notes what the thinking of an answer was issued behind. The lock is held.
func (messages) bind(s *Server, p prompt, blocks []object) {
	at := p.behind
	var run []string // of this answer
	for _, b := range blocks {
		if id := thinkingID(b); id != "" {
			if run = append(run, id); s.binds(p.body) {
				s.bound[id] = at
			}
		}
		at.add("assistant", b)
	}
	for _, id := range run {
		s.runs[id] = run
	}
}

// blockBinding is what a request says about thinking that does not fit.
func blockBinding(body object) object { return obj(obj(body["thinking"])["block_binding"]) }

// beta reports whether a request asks for a beta feature.
func beta(r *http.Request, name string) bool {
	return slices.ContainsFunc(r.Header.Values("anthropic-beta"), func(v string) bool {
		return strings.Contains(v, name)
	})
}
