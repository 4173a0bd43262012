package network

import (
	"cmp"
	"context"
	"net/http"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// gatewayToken is a header in which a gateway that speaks Headroom's contract may send its token, instead of
// Authorization.
const gatewayToken = "X-Headroom-Proxy-Token"

// gateway returns what serves a path of that contract.
func (s *calls) gateway(route service.GatewayRoute) http.HandlerFunc {
	m, _ := service.Find(api.Served, route.Method)
	return s.serve(m, func(ctx context.Context, c *caller, r *http.Request, _ *answerer) (any, error) {
		if m.Name == "messages.compress" {
			var asked service.GatewayCompress
			if err := service.ReadLoosely(r.Body, &asked); err != nil {
				return nil, err
			}
			made, err := s.alone.Compress(ctx, c.grant, asked.Asked())
			return service.Compressed(made), err
		}
		of := service.GatewayRetrieve{ID: r.PathValue("id")}
		if route.Params != nil {
			if err := service.ReadLoosely(r.Body, &of); err != nil {
				return nil, err
			}
		}
		part, err := s.alone.Retrieve(ctx, c.grant, api.RetrieveRequest{ID: cmp.Or(of.ID, of.Hash)})
		return service.Part(part), err
	})
}
