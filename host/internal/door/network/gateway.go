package network

import (
	"cmp"
	"context"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/service"
)

// What gateways call that speak Headroom's contract, such as LiteLLM and Portkey: two methods, by other paths and with
// other names of members besides.

// gatewayToken is a header in which such a gateway may send its token instead of Authorization.
const gatewayToken = "X-Headroom-Proxy-Token"

// gatewayRequest is what a gateway sends. Options of Headroom's own, such as "config", are ignored.
type gatewayRequest struct {
	service.CompressMessages
	TokenBudget int `json:"token_budget"`
}

// gatewayAnswer is what a gateway reads, and what every caller gets.
type gatewayAnswer struct {
	service.CompressedMessages
	Before     int      `json:"tokens_before"`
	After      int      `json:"tokens_after"`
	Saved      int      `json:"tokens_saved"`
	Ratio      float64  `json:"compression_ratio"` // what is left: 1 is all
	Transforms []string `json:"transforms_applied"`
	Hashes     []string `json:"ccr_hashes"`
}

// gatewayPart is a removed part, for both.
type gatewayPart struct {
	service.RetrieveAnswer
	Hash     string `json:"hash"`
	Original string `json:"original_content"`
	ToolName string `json:"tool_name,omitempty"`
}

// gateway returns what gateways call, by its pattern.
func (s *calls) gateway() map[string]http.Handler {
	compress, _ := service.Find(service.Served, "messages.compress")
	retrieve, _ := service.Find(service.Served, "messages.retrieve")
	part := func(id func(*http.Request) (string, error)) http.HandlerFunc {
		return s.serve(retrieve, func(ctx context.Context, c *caller, r *http.Request, _ *answerer) (any, error) {
			hash, err := id(r)
			if err != nil {
				return nil, err
			}
			a, err := s.alone.Retrieve(ctx, c.grant, service.RetrieveRequest{ID: hash})
			return gatewayPart{a, a.ID, a.Content, a.Tool}, err
		})
	}
	return map[string]http.Handler{
		"POST " + Path + "compress": s.serve(compress, s.compress),
		"GET " + Path + "retrieve/{id}": part(func(r *http.Request) (string, error) {
			return r.PathValue("id"), nil
		}),
		"POST " + Path + "retrieve": part(func(r *http.Request) (string, error) {
			var of struct{ ID, Hash string }
			err := service.Read(r.Body, &of)
			return cmp.Or(of.ID, of.Hash), err
		}),
	}
}

func (s *calls) compress(ctx context.Context, c *caller, r *http.Request, _ *answerer) (any, error) {
	var asked gatewayRequest
	if err := service.Read(r.Body, &asked); err != nil {
		return nil, err
	}
	asked.ContextLimit = cmp.Or(asked.ContextLimit, asked.TokenBudget)
	made, err := s.alone.Compress(ctx, c.grant, asked.CompressMessages)
	if err != nil {
		return nil, err
	}
	a := gatewayAnswer{CompressedMessages: made, Before: made.TokensBefore, After: made.TokensAfter,
		Saved: made.TokensBefore - made.TokensAfter, Ratio: float64(made.TokensAfter) / float64(max(made.TokensBefore, 1)),
		Transforms: []string{}, Hashes: []string{}}
	for _, part := range made.Removed {
		if part.ID != "" {
			a.Hashes = append(a.Hashes, part.ID)
		}
	}
	return a, nil
}
