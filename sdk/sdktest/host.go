package sdktest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/thresh-dev/thresh/internal/conform"
	"github.com/thresh-dev/thresh/sdk"
)

// GenerateFunc answers one request of a strategy to the model.
type GenerateFunc func(ctx context.Context, req sdk.GenerateRequest) (sdk.Completion, error)

// Answers returns a model that gives these answers, one a request, and fails when it has none left.
func Answers(texts ...string) GenerateFunc {
	var mu sync.Mutex
	next := 0
	return func(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(texts) {
			return sdk.Completion{}, fmt.Errorf("sdktest: request %d to the model, but only %d answers were given",
				next+1,
				len(texts))
		}
		next++
		return sdk.Completion{Text: texts[next-1], FinishReason: "stop", Model: "sdktest"}, nil
	}
}

// host is the host that a strategy under test meets in Compress.
func (c Config) host(info sdk.Info) *conform.Host {
	h := &conform.Host{Info: info, Count: c.counter(), Answer: c.Generate, Prompt: c.prompt}
	if m := c.model(info); m != nil {
		h.Model = *m
	}
	if c.Generate == nil {
		h.Answer = func(context.Context, sdk.GenerateRequest) (sdk.Completion, error) {
			return sdk.Completion{}, errors.New("sdktest: the strategy calls Host.Generate, " +
				"but Config.Generate is nil; see Answers")
		}
	}
	return h
}

func (c Config) prompt(name string) (string, error) {
	if prompt, ok := c.Prompts[name]; ok {
		return prompt, nil
	}
	return "", fmt.Errorf("sdktest: there is no prompt %q in Config.Prompts", name)
}
