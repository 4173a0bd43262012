// Package eino keeps the agents of Eino under their model's context limit: a ChatModelAgent takes [Middleware].
//
// A message that no strategy changes is the same *schema.Message, with all that Eino keeps in it. Do not change one
// that an agent was given.
package eino

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/thresh-dev/thresh/adapters/internal/fit"
	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Middleware keeps the messages of agents under the limit. The model is sent the schemas of tools besides, so that
// they count. One middleware may serve many agents with the same tools, at the same time. Its sessions end with h.
func Middleware(ctx context.Context, h *host.Host, tools ...tool.BaseTool) (adk.AgentMiddleware, error) {
	schemas, err := schemas(ctx, tools)
	if err != nil {
		return adk.AgentMiddleware{}, fmt.Errorf("thresh: the tools' schemas: %w", err)
	}
	keeper := fit.New(h, fit.Framework[*schema.Message]{Entry: entry, Messages: messages, Same: same})
	before := func(ctx context.Context, state *adk.ChatModelAgentState) error {
		instructions := 0 // messages of the system before all others
		var system []content.Block
		for instructions < len(state.Messages) && state.Messages[instructions].Role == schema.System {
			system = append(system, content.Text{Text: state.Messages[instructions].Content})
			instructions++
		}
		sent, err := keeper.Fit(ctx, fit.Request[*schema.Message]{
			System: system, Messages: state.Messages[instructions:], Besides: schemas,
		})
		if err != nil {
			return err
		}
		state.Messages = append(state.Messages[:instructions:instructions], sent...)
		return nil
	}
	return adk.AgentMiddleware{BeforeChatModel: before}, nil
}

func schemas(ctx context.Context, tools []tool.BaseTool) (string, error) {
	var all strings.Builder
	for _, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return "", err
		}
		schema, err := info.ParamsOneOf.ToJSONSchema()
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(schema)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&all, info.Name, info.Desc, string(text))
	}
	return all.String(), nil
}

func same(a, b *schema.Message) bool { return a == b || reflect.DeepEqual(a, b) }
