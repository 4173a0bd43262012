package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// The revision without initialize: every request carries what initialize used to settle. A client of an earlier
// revision is not affected, because its requests have none of these fields.

// stateless is the first revision without initialize: each request says in _meta which revision it has, and over HTTP
// once more in headers, for what stands in between.
const stateless = "2026-07-28"

// revisions are the revisions of the protocol that are served, the latest first. Those of initialize differ in nothing,
// for what is served here.
var revisions = []string{stateless, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// The protocol's own errors.
const (
	// codeHeader: a header contradicts the message. codeRevision: the revision is not served.
	codeHeader   = -32020
	codeRevision = -32022
)

// check reads which revision a request says it has, "" for one that initialize agreed on, and compares what it says of
// itself with the headers; over lines there are none. With an error it is no request of the protocol.
func check(r jsonrpc.Request, headers http.Header) (revision string, bad *jsonrpc.Error) {
	var p struct {
		Name string
		Meta struct {
			Revision     string          `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	// Params that cannot be read are those of an earlier revision, whose methods report them.
	_ = json.Unmarshal(r.Params, &p)
	header := headers.Get("MCP-Protocol-Version")
	switch {
	case p.Meta.Revision != "" && p.Meta.Revision != stateless:
		return "", unserved(p.Meta.Revision)
	case header != "" && !slices.Contains(revisions, header):
		return "", unserved(header)
	case p.Meta.Revision == "" && header == stateless:
		return stateless, wrongParams("_meta has no io.modelcontextprotocol/protocolVersion")
	case p.Meta.Revision == "":
		return "", nil
	case p.Meta.Capabilities == nil:
		return stateless, wrongParams("_meta has no io.modelcontextprotocol/clientCapabilities")
	}
	if headers == nil {
		return stateless, nil
	}
	// What a proxy in between may route by must be what the message says; otherwise it is refused, so that a proxy
	// that checks headers cannot be passed by.
	want := map[string]string{"MCP-Protocol-Version": stateless, "Mcp-Method": r.Method}
	if r.Method == "tools/call" {
		want["Mcp-Name"] = p.Name
	}
	for name, value := range want {
		if got := headers.Get(name); got != value && (name != "Mcp-Name" || plain(got) != value) {
			return stateless, &jsonrpc.Error{Code: codeHeader,
				Message: fmt.Sprintf("the header %s is %.100q, and the message has %.100q", name, got, value)}
		}
	}
	return stateless, nil
}

// plain decodes a header whose value is no plain text; "" if it cannot be. Names of tools that are not ASCII travel
// in base64.
func plain(value string) string {
	inner, encoded := strings.CutPrefix(value, "=?base64?")
	inner, ends := strings.CutSuffix(inner, "?=")
	if !encoded || !ends {
		return ""
	}
	text, _ := base64.StdEncoding.DecodeString(inner) // what cannot be decoded is no name of a tool
	return string(text)
}

// unserved is the error for a revision that is not served. It lists those that are, so that the client can choose
// one.
func unserved(revision string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: codeRevision, Message: "unsupported protocol version",
		Data: map[string]any{"supported": revisions, "requested": revision}}
}

// answerStateless answers a request of the revision without initialize, which has no ping either.
func (s *Server) answerStateless(ctx context.Context, r jsonrpc.Request) (result map[string]any, bad *jsonrpc.Error) {
	switch r.Method {
	case "server/discover":
		result = about()
		result["supportedVersions"] = revisions
	case "tools/list":
		result = list()
	case "tools/call":
		if result, bad = s.call(ctx, r.Params); bad != nil {
			return nil, bad
		}
	default:
		return nil, unknown(r.Method)
	}
	result["resultType"] = "complete"
	result["_meta"] = map[string]any{"io.modelcontextprotocol/serverInfo": serverInfo()}
	if r.Method != "tools/call" {
		// The same for all, as long as this version runs: a client may ask again each hour.
		result["ttlMs"], result["cacheScope"] = 3_600_000, "public"
	}
	return result, nil
}
