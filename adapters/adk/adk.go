// Package adk keeps the agents of Google's Agent Development Kit under their model's context limit: a runner takes
// [Plugin].
//
// A part that no strategy changes is the same *genai.Part, and so is a *genai.Content. The events of the session stay as
// they are.
package adk

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/genai"

	"github.com/thresh-dev/thresh/adapters/internal/fit"
	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Plugin keeps what the agents of a runner send to their models under the limit. Its sessions end with h.
func Plugin(h *host.Host) (*plugin.Plugin, error) {
	keeper := fit.New(h, fit.Framework[*genai.Content]{Entry: entry, Messages: contents, Same: same})
	before := func(ctx agent.Context, r *model.LLMRequest) (*model.LLMResponse, error) {
		return nil, prepare(ctx, keeper, r)
	}
	return plugin.New(plugin.Config{Name: "thresh", BeforeModelCallback: before})
}

func prepare(ctx context.Context, keeper *fit.Keeper[*genai.Content], r *model.LLMRequest) error {
	out := fit.Request[*genai.Content]{Messages: r.Contents}
	if c := r.Config; c != nil {
		if c.SystemInstruction != nil {
			for _, p := range c.SystemInstruction.Parts {
				out.System = append(out.System, content.Text{Text: p.Text})
			}
		}
		schemas, err := json.Marshal(c.Tools)
		if err != nil {
			return fmt.Errorf("thresh: the tools' schemas: %w", err)
		}
		out.Besides = string(schemas)
	}
	sent, err := keeper.Fit(ctx, out)
	if err != nil {
		return err
	}
	r.Contents = sent
	return nil
}

func same(a, b *genai.Content) bool { return a == b || reflect.DeepEqual(a, b) }
