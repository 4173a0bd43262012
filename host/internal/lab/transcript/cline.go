package transcript

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content"
)

// clineTools are the tools of Cline and Roo Code that models call in text, as <name>…</name>. A tag of another name at
// the end of an answer is text: models write HTML and XML.
var clineTools = []string{
	"read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace",
	"list_files", "search_files", "list_code_definition_names", "codebase_search", "execute_command",
	"browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question", "attempt_completion",
	"plan_mode_respond", "new_task", "switch_mode", "update_todo_list", "fetch_instructions", "web_fetch",
}

// cline reads what Cline and Roo Code put into messages of the Anthropic API. Results of tools are text of the user
// behind a line that names the tool, and older versions have the calls in the text of the model too:
//
//	{"role": "assistant", "content": [{"type": "text", "text": "I read\n<read_file>\n<path>a.go</path>\n</read_file>"}]}
//	{"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.go'] Result:"},
//	 {"type": "text", "text": "…"}, {"type": "text", "text": "<environment_details>…"}]}
//
// Such a text becomes a call or a response, without the lines around it. The state of the editor, which comes with each
// message, is kept as text of the person. The form was learnt from a published session and from one recorded with the
// agent. The zero value is for an unknown conversation.
type cline struct {
	// known says that the person's first message is in their form.
	known bool
	open  []content.ToolCall // unanswered calls of the last answer
	made  int                // ids made for calls in text, which have none
}

// begins reports whether the text of a person's message is in Cline's form: the task, with the state of the editor.
func (c *cline) begins(text string) bool {
	return strings.HasPrefix(text, "<task>") || strings.HasPrefix(text, "<environment_details>")
}

// called reads an answer of the model, and turns the call at the end of a text into a block.
func (c *cline) called(blocks []content.Block) []content.Block {
	c.open = nil
	var out []content.Block
	for _, b := range blocks {
		switch b := b.(type) {
		case content.ToolCall:
			c.open = append(c.open, b)
		case content.Text:
			if said, call, ok := c.inText(b.Text); ok {
				if said != "" {
					out = append(out, content.Text{Text: said})
				}
				c.open = append(c.open, call)
				out = append(out, call)
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

func (c *cline) inText(text string) (said string, call content.ToolCall, ok bool) {
	trimmed := strings.TrimSpace(text)
	at := strings.LastIndex(trimmed, "</")
	// Cline runs only the call with which an answer ends.
	if at < 0 || !strings.HasSuffix(trimmed, ">") {
		return "", call, false
	}
	name := trimmed[at+2 : len(trimmed)-1]
	begin := strings.LastIndex(trimmed, "<"+name+">")
	if begin < 0 || !slices.Contains(clineTools, name) {
		return "", call, false
	}
	call = content.ToolCall{ID: madeID(&c.made), Name: name}
	var parameters ordered.Builder
	seen := map[string]bool{}
	// The parameters are tags too: <path>…</path>. There is no escaping.
	for rest := trimmed[begin+len(name)+2 : at]; ; {
		_, tail, found := strings.Cut(rest, "<")
		key, tail, named := strings.Cut(tail, ">")
		if !found || !named {
			break
		}
		// To the last end of that name: the content of a file may hold tags of any name.
		end := strings.LastIndex(tail, "</"+key+">")
		if end < 0 || seen[key] || key == "" {
			rest = tail
			continue
		}
		seen[key] = true
		parameters.Raw(key, content.String(strings.Trim(tail[:end], "\n")))
		rest = tail[end+len(key)+3:]
	}
	call.Parameters = parameters.JSON()
	return strings.TrimSpace(trimmed[:begin]), call, true
}

// results returns the blocks of a person's message with the results among them as such. A result is a text that begins
// with "[read_file for 'a.go'] Result:", or the text behind one that is nothing else.
func (c *cline) results(p messages.Pieces) messages.Pieces {
	var out messages.Pieces
	for i := 0; i < len(p.Blocks); i++ {
		// Only if a call of that tool waits: a person can write "[x] Result:".
		text, ok := p.Blocks[i].(content.Text)
		head, rest, found := strings.Cut(text.Text, "] Result:")
		tool, _, _ := strings.Cut(strings.TrimPrefix(head, "["), " ")
		at := slices.IndexFunc(c.open, func(call content.ToolCall) bool { return call.Name == tool })
		if !ok || p.OfTool[i] || !found || !strings.HasPrefix(head, "[") || at < 0 {
			out.Add(p.OfTool[i], p.Blocks[i])
			continue
		}
		if rest = strings.TrimPrefix(rest, "\n"); rest == "" && i+1 < len(p.Blocks) {
			// The state of the editor is no result, even behind a tool that returned nothing.
			if next, ok := p.Blocks[i+1].(content.Text); ok && !c.begins(next.Text) {
				rest = next.Text
				i++
			}
		}
		call := c.open[at]
		c.open = slices.Delete(c.open, at, at+1)
		out.Add(true, content.ToolResponse{CallID: call.ID, ToolName: call.Name, Result: content.String(rest)})
	}
	return out
}
