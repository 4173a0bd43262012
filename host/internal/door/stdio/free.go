package stdio

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// The methods that are about no session. They run at once, each in a goroutine of its own.

// free decodes the parameters of such a method.
func free[P any](
	f func(ctx context.Context, s *server, p P) (any, error),
) func(context.Context, *server, json.RawMessage) (any, error) {
	return func(ctx context.Context, s *server, raw json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return nil, err
		}
		return f(ctx, s, p)
	}
}

// initialize may be called at any time and more than once. It changes nothing.
func initialize(_ context.Context, s *server, _ empty) (any, error) {
	info := s.service.Info()
	info.Limits = service.Limits{RequestBytes: maxLine, Unanswered: maxUnanswered}
	for _, m := range Methods() {
		info.Methods = append(info.Methods, m.Name)
	}
	return info, nil
}

// countTokens, listPlugins and resetPlugin are the service's, with parameters by name.
func countTokens(ctx context.Context, s *server, p service.CountRequest) (any, error) {
	return s.service.Count(ctx, p)
}

func listPlugins(ctx context.Context, s *server, _ empty) (any, error) {
	return s.service.Plugins(ctx), nil
}

func resetPlugin(_ context.Context, s *server, p service.ResetRequest) (any, error) {
	answer, err := s.service.ResetPlugin(p)
	if answer.Reset {
		s.log.Info("plugin reset", "plugin", p.Name, "by", "the local user", "from", "standard input")
	}
	return answer, err
}

// cancelParams has the id as it was sent: text or a number.
type cancelParams struct {
	ID json.RawMessage `json:"id"`
}

// cancelResult is the answer to cancel, which is a request like any other and has a reply of its own.
type cancelResult struct {
	// Canceled is false if no request with the id is in progress.
	Canceled bool `json:"canceled"`
}

// errCanceled ends the context of a request that the agent cancelled.
var errCanceled = errors.New("canceled by the agent")

// cancelRequest cancels a request of the same connection. The cancelled request is still answered, with an error. The
// id is compared as JSON text: 1 and "1" are different, as they are in JSON-RPC.
func cancelRequest(_ context.Context, s *server, p cancelParams) (any, error) {
	if len(p.ID) == 0 || string(p.ID) == "null" || !jsonrpc.ValidID(p.ID) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParams,
			Message: `params: "id" must be the id of a request: text or a number`}
	}
	// It may end at this moment. Then it was answered, and there is nothing to cancel.
	cancel, ok := s.inProgress.Load(string(p.ID))
	if ok {
		cancel.(context.CancelCauseFunc)(errCanceled)
	}
	return cancelResult{ok}, nil
}
