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
	"github.com/thresh-dev/thresh/sdk/content"
)

// The few methods of the protocol that a server with one tool needs. They are the same for all revisions; what
// differs is in stateless.go.

// Tool is the name of the tool. Markers in conversations have it, so that it is never changed.
const Tool = "thresh_recall"

// Mark returns what stands behind the text that replaces a result: the id by which the tool finds it. The text is
// part of requests to models and of their prompt caches: changing its form rewrites conversations.
func Mark(id string) string { return " [" + Tool + ": " + id + "]" }

// Server answers the requests of an agent.
type Server struct {
	// Recall looks up what has an id in the conversation that the server is for. It returns no entry if nothing has,
	// whatever other conversations have. It may be called by several requests at the same time.
	Recall func(ctx context.Context, id string) ([]content.Content, error)
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

// about is what a client is told of the server. It shows the instructions to the model next to the tool.
func about() map[string]any {
	return map[string]any{
		"capabilities": map[string]any{"tools": struct{}{}},
		"instructions": "Some results of tools were removed from this conversation to keep it small. Where one ends " +
			"with " + Mark("ID")[1:] + ", the tool " + Tool + " returns it as it was.",
	}
}

func serverInfo() any { return map[string]any{"name": "thresh", "version": buildinfo.Version()} }

func list() map[string]any { return map[string]any{"tools": []any{tool}} }

// tool is how the list describes the tool. It changes nothing, so that clients need not ask their user each time.
var tool = map[string]any{
	"name":  Tool,
	"title": "Read a removed result again",
	"description": "Returns the whole result of an earlier tool call of this conversation that was removed to save " +
		"space. Where a result was removed, " + Mark("ID")[1:] + " stands in its place. Call it only if you need " +
		"what the result said then; to see how things are now, run the tool again.",
	"inputSchema": map[string]any{
		"type": "object",
		"properties": map[string]any{
			"id": map[string]any{"type": "string", "description": "the ID from the place of the removed result"},
		},
		"required": []string{"id"}, "additionalProperties": false,
	},
	"annotations": map[string]any{"readOnlyHint": true, "openWorldHint": false},
}

// call calls the tool. What the model can mend is a result with isError, which the model sees; what only the client's
// author can mend is an error of the protocol.
func (s *Server) call(ctx context.Context, raw json.RawMessage) (map[string]any, *jsonrpc.Error) {
	var p struct {
		Name string
		// Other arguments are ignored: the schema forbids them, and models make them up all the same.
		Arguments struct{ ID string }
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, wrongParams(err.Error())
	}
	if p.Name != Tool {
		return nil, wrongParams(fmt.Sprintf("unknown tool %.100q", p.Name))
	}
	id := p.Arguments.ID
	if id == "" {
		return result(`"id" is missing: it stands in the place of the removed result`, true), nil
	}
	found, err := s.Recall(ctx, id)
	switch {
	case err != nil:
		return result(store.Public(err), true), nil
	case len(found) == 0:
		return result(fmt.Sprintf("nothing in this conversation has the id %.100q", id), true), nil
	}
	return result(text(found, id), false), nil
}

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

// text returns what the model reads: of the entries of a call its results alone, of another entry everything that is
// text.
func text(entries []content.Content, id string) string {
	// ofCall are the results of the call that was asked for, all everything that is text.
	var ofCall, all []string
	for _, e := range entries {
		for _, b := range e.Blocks {
			switch b := b.(type) {
			case content.ToolResponse:
				one := b.ResultText()
				if b.Failed() {
					one = "error: " + b.Error + "\n" + one
				}
				if all = append(all, one); b.CallID == id {
					ofCall = append(ofCall, one)
				}
			case content.Text:
				all = append(all, b.Text)
			}
		}
	}
	// Entries may hold the results of other calls too, which ran at the same time.
	if ofCall != nil {
		all = ofCall
	}
	return strings.Join(all, "\n\n")
}
