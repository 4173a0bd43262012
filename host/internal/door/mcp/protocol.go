package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/buildinfo"
	"github.com/thresh-dev/thresh/sdk/marks"
	"github.com/thresh-dev/thresh/sdk/tools"
)

// The few methods of the protocol that a server with one tool needs. They are the same for all revisions; what
// differs is in stateless.go.

// Tool is the name of the tool.
const Tool = tools.Recall

// Server answers the requests of an agent.
type Server struct {
	// Recall finds what is asked for in the conversation whose model asks: nothing if that does not have it, whatever
	// other conversations have. It may be called by several requests at the same time.
	Recall func(context.Context, Asked) (Answer, error)
	// Panicked is told of a panic that was recovered, while the stack is still its own, and returns the error to answer
	// with.
	Panicked func(value any) error
}

// answer answers a request of a client that began with initialize, or might have. The params of the protocol may have
// members that are not known here, such as _meta. Unlike those of the project's own methods, these must be ignored.
func (s *Server) answer(ctx context.Context, r jsonrpc.Request) (any, *jsonrpc.Error) {
	switch r.Method {
	case "initialize":
		return initialize(r.Params)
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return list(), nil
	case "tools/call":
		return s.call(ctx, r.Params)
	}
	return nil, unknown(r.Method)
}

// unknown is the error for a method that this server does not have. Clients may ask for prompts and resources, and
// take it as the answer that there are none.
func unknown(method string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeUnknownMethod, Message: fmt.Sprintf("unknown method %.100q", method)}
}

// initialize agrees on a revision: the client's if it is served, else the latest, which the client may refuse.
func initialize(raw json.RawMessage) (any, *jsonrpc.Error) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(raw, &p) != nil || p.ProtocolVersion == "" {
		return nil, wrongParams(`"protocolVersion" is missing`)
	}
	// The first revision has no initialize, so a client that calls it gets one of the others.
	initialized := revisions[1:]
	revision := initialized[0]
	if slices.Contains(initialized, p.ProtocolVersion) {
		revision = p.ProtocolVersion
	}
	result := about()
	result["protocolVersion"], result["serverInfo"] = revision, serverInfo()
	return result, nil
}

// instructions are shown to the model next to the tool.
const instructions = "Earlier parts of this conversation may have been removed to keep it small. " + Tool + " finds them."

// about is what a client is told of the server.
func about() map[string]any {
	return map[string]any{"capabilities": map[string]any{"tools": struct{}{}}, "instructions": instructions}
}

func serverInfo() any { return map[string]any{"name": "thresh", "version": buildinfo.Version()} }

func list() map[string]any { return map[string]any{"tools": []any{tool}} }

// Description is what a model reads of the tool. Each request of an agent has all of it: it is short.
var Description = "Finds what was removed from this conversation to save space: tool results, calls, messages. Use it " +
	"when you need something from before that you no longer see, rather than guess, ask again or redo it. " +
	"It shows how things were then, not how files are now. Where a result was removed, " + marks.Recall("ID")[1:] +
	" may stand."

// Schema is that of the arguments. It must not be changed.
var Schema = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"query":  property("string", `words, names or paths to find; "exact text" in quotes`),
		"id":     property("string", "instead: the ID of a mark or of a passage found, to read all of it"),
		"lines":  property("string", "with id: only these, such as 120-200"),
		"limit":  property("integer", "with query: most passages, 3 if absent"),
		"tokens": property("integer", "most tokens to return"),
	},
	"additionalProperties": false,
}

// tool is how the list describes the tool. It changes nothing, so that clients need not ask their user each time.
var tool = map[string]any{
	"name":        Tool,
	"title":       "Find removed parts of this conversation",
	"description": Description,
	"inputSchema": Schema,
	"annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false},
}

// Prompt returns what each request of an agent has of the server: the instructions, and the tool as model APIs take it.
func Prompt() string {
	schema, _ := json.Marshal(map[string]any{"name": tool["name"], "description": tool["description"],
		"input_schema": tool["inputSchema"]}) // texts alone
	return instructions + "\n" + string(schema)
}

func property(kind, description string) map[string]any {
	return map[string]any{"type": kind, "description": description}
}

// call calls the tool. What the model can mend is a result with isError, which the model sees; what only the client's
// author can mend is an error of the protocol.
func (s *Server) call(ctx context.Context, raw json.RawMessage) (map[string]any, *jsonrpc.Error) {
	var p struct {
		Name      string
		Arguments json.RawMessage
		Meta      json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, wrongParams(err.Error())
	}
	if p.Name != Tool {
		return nil, wrongParams(fmt.Sprintf("unknown tool %.100q", p.Name))
	}
	return result(s.Call(ctx, p.Arguments, p.Meta)), nil
}

// Call calls the tool, and returns what the model reads. failed: that is what it did wrong, or why it gets nothing.
// meta is [Asked.Meta]; it may be nil.
func (s *Server) Call(ctx context.Context, arguments, meta json.RawMessage) (text string, failed bool) {
	a, err := asked(arguments)
	if err != nil {
		return err.Error(), true
	}
	a.Meta = meta
	found, err := s.Recall(ctx, a)
	switch {
	case err != nil:
		return store.Public(err), true
	case len(found.Parts) == 0 && a.ID != "":
		return fmt.Sprintf("nothing in this conversation has the id %.100q", a.ID), true
	case a.ID == "":
		return Found(found), false
	}
	if text, err = a.text(found.Parts); err != nil {
		return err.Error(), true
	}
	return text, false
}

// Found is what the model reads of what a search found.
func Found(a Answer) string {
	text := "nothing that was removed has these words: try others, such as names, paths or numbers as they stood there. " +
		"What was not removed is still in the conversation."
	if len(a.Parts) > 0 {
		text, _ = Asked{}.text(a.Parts) // the whole of each
		text = strings.TrimSuffix(text, "\n")
	}
	if len(a.Absent) > 0 && len(a.Parts) > 0 {
		text += "\n\n[nothing that was removed has: " + strings.Join(a.Absent[:min(len(a.Absent), maxAbsent)], ", ") + "]"
	}
	switch {
	case a.More == 1:
		text += "\n\n[1 more has as many of these words: limit shows it]"
	case a.More > 1:
		text += fmt.Sprintf("\n\n[up to %d more have as many of these words: limit shows them]", a.More)
	}
	return text
}

// maxAbsent is how many words are named that occur nowhere.
const maxAbsent = 8

// result is what a call of the tool returns. A failed one reaches the model as well.
func result(text string, failed bool) map[string]any {
	r := map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	if failed {
		r["isError"] = true
	}
	return r
}

// wrongParams is an error of the protocol, which the model does not see.
func wrongParams(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeParams, Message: "params: " + message}
}
