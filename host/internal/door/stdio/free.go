package stdio

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// own are the methods that this door does itself, by name. Like all that are about no session they run at once, each in
// a goroutine of its own.
var own = map[string]func(*server, json.RawMessage) (any, error){
	"initialize": free(func(s *server, _ service.Empty) (any, error) {
		info := s.service.Info()
		info.Limits = service.Limits{RequestBytes: maxLine, Unanswered: maxUnanswered}
		return info, nil
	}),
	"plugins.reset": free(func(s *server, p service.ResetRequest) (any, error) {
		answer, err := s.service.ResetPlugin(p)
		if answer.Reset {
			s.log.Info("plugin reset", "plugin", p.Name, "by", "the local user", "from", "standard input")
		}
		return answer, err
	}),
	"cancel": free(cancelRequest),
}

func free[P any](f func(s *server, p P) (any, error)) func(*server, json.RawMessage) (any, error) {
	return func(s *server, raw json.RawMessage) (any, error) {
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return nil, err
		}
		return f(s, p)
	}
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

// errCanceled ends the context of a request that the agent cancelled. A turn that waited for another one ends with this
// cause, and its kind is that of any cancellation.
var errCanceled = fmt.Errorf("canceled by the agent: %w", context.Canceled)

// cancelRequest cancels a request of the same connection. The cancelled request is still answered, with an error. The
// id is compared as JSON text: 1 and "1" are different, as they are in JSON-RPC.
func cancelRequest(s *server, p cancelParams) (any, error) {
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

// free returns the call of a method that is about no session; nil for others.
func (s *server) free(m service.Method, raw json.RawMessage) func(context.Context) (any, error) {
	if f := own[m.Name]; f != nil {
		return func(context.Context) (any, error) { return f(s, raw) }
	}
	if m.Host == nil {
		return nil
	}
	return func(ctx context.Context) (any, error) {
		call, err := m.Host(func(params any) error { return decodeParams(raw, params) })
		if err != nil {
			return nil, err
		}
		return call(ctx, s.service)
	}
}
