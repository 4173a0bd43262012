package eino_test

import (
	"context"

	"github.com/cloudwego/eino/adk"

	"github.com/thresh-dev/thresh/adapters/eino"
	"github.com/thresh-dev/thresh/host"
)

// The agent of config stays under its model's limit. A middleware serves many conversations: it recognises each by what
// its messages begin with. The host is opened once, in a program whose main begins with host.ReexecMain.
func Example() {
	var newAgent = func(ctx context.Context, h *host.Host, config adk.ChatModelAgentConfig) (adk.Agent, error) {
		thresh, err := eino.Middleware(ctx, h, config.ToolsConfig.Tools...)
		if err != nil {
			return nil, err
		}
		config.Middlewares = append(config.Middlewares, thresh) // the last one sees what the model is sent
		return adk.NewChatModelAgent(ctx, &config)
	}
	_ = newAgent
}
