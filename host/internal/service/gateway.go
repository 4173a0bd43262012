package service

import (
	"cmp"
	"net/http"
	"reflect"

	"github.com/thresh-dev/thresh/host/api"
)

// What gateways call that speak Headroom's contract, such as LiteLLM and Portkey: messages.compress and
// messages.retrieve, by other paths and with other names of members besides.

// GatewayRoute is a path of that contract, for the method that does it. Members of a request that are not known, such
// as Headroom's "config", are ignored.
type GatewayRoute struct {
	Verb, Path, Method string
	// Params is nil if the path has all.
	Params, Result reflect.Type
}

// Gateway returns the paths over HTTP.
func Gateway() []GatewayRoute {
	compress, part := reflect.TypeFor[GatewayCompressed](), reflect.TypeFor[GatewayPart]()
	return []GatewayRoute{
		{http.MethodPost, "/v1/compress", "messages.compress", reflect.TypeFor[GatewayCompress](), compress},
		{http.MethodPost, "/v1/retrieve", "messages.retrieve", reflect.TypeFor[GatewayRetrieve](), part},
		{http.MethodGet, "/v1/retrieve/{id}", "messages.retrieve", nil, part},
	}
}

// GatewayCompress is what a gateway sends.
type GatewayCompress struct {
	api.CompressMessages
	TokenBudget int `json:"token_budget,omitempty" jsonschema:"the same as contextLimit"`
}

// Asked is the same for every caller.
func (g GatewayCompress) Asked() api.CompressMessages {
	g.ContextLimit = cmp.Or(g.ContextLimit, g.TokenBudget)
	return g.CompressMessages
}

// GatewayCompressed is what a gateway reads, and what every caller gets.
type GatewayCompressed struct {
	api.CompressedMessages
	Before     int      `json:"tokens_before"`
	After      int      `json:"tokens_after"`
	Saved      int      `json:"tokens_saved"`
	Ratio      float64  `json:"compression_ratio" jsonschema:"what is left: 1 is all"`
	Transforms []string `json:"transforms_applied" jsonschema:"empty"`
	Hashes     []string `json:"ccr_hashes" jsonschema:"the ids of what was removed"`
}

// Compressed adds what a gateway reads.
func Compressed(m api.CompressedMessages) GatewayCompressed {
	g := GatewayCompressed{CompressedMessages: m, Before: m.TokensBefore, After: m.TokensAfter,
		Saved: m.TokensBefore - m.TokensAfter, Ratio: float64(m.TokensAfter) / float64(max(m.TokensBefore, 1)),
		Transforms: []string{}, Hashes: []string{}}
	for _, part := range m.Removed {
		if part.ID != "" {
			g.Hashes = append(g.Hashes, part.ID)
		}
	}
	return g
}

// GatewayRetrieve names a removed part, by either name.
type GatewayRetrieve struct {
	ID   string `json:"id,omitempty"`
	Hash string `json:"hash,omitempty" jsonschema:"the same as id"`
}

// GatewayPart is a removed part, for both.
type GatewayPart struct {
	api.RetrieveAnswer
	Hash     string `json:"hash" jsonschema:"the id"`
	Original string `json:"original_content" jsonschema:"the content"`
	ToolName string `json:"tool_name,omitempty" jsonschema:"the tool"`
}

// Part adds what a gateway reads.
func Part(a api.RetrieveAnswer) GatewayPart { return GatewayPart{a, a.ID, a.Content, a.Tool} }
