package stdio

import (
	"context"
	"fmt"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// errCanceled ends the context of a request that the agent cancelled. A turn that waited for another one ends with this
// cause, and its kind is that of any cancellation.
var errCanceled = fmt.Errorf("canceled by the agent: %w", context.Canceled)

// cancel cancels a request of the same connection. The cancelled request is still answered, with an error. The
// id is compared as JSON text: 1 and "1" are different, as they are in JSON-RPC.
func (s *server) cancel(p *service.CancelRequest) (any, error) {
	if len(p.ID) == 0 || string(p.ID) == "null" || !jsonrpc.ValidID(p.ID) {
		return nil, &service.RequestError{Field: "id", Message: `"id" must be the id of a request: text or a number`}
	}
	// It may end at this moment. Then it was answered, and there is nothing to cancel.
	cancel, ok := s.inProgress.Load(string(p.ID))
	if ok {
		cancel.(context.CancelCauseFunc)(errCanceled)
	}
	return service.CancelAnswer{Canceled: ok}, nil
}

// free calls a method that is about no session. Like all of them it runs at once, in a goroutine of its own.
func (s *server) free(ctx context.Context, call *service.Call) (any, error) {
	switch p := call.Params.(type) {
	case *service.Empty:
		if call.Method.ByDoor {
			info := s.service.Info(service.Run)
			info.Limits = service.Limits{RequestBytes: maxLine, Unanswered: maxUnanswered}
			return info, nil
		}
	case *service.CancelRequest:
		return s.cancel(p)
	case *service.CompressMessages:
		alone, err := s.alone()
		if err != nil {
			return nil, err
		}
		return alone.Compress(ctx, access.Grant{}, *p)
	case *service.RetrieveRequest:
		alone, err := s.alone()
		if err != nil {
			return nil, err
		}
		return alone.Retrieve(ctx, access.Grant{}, *p)
	}
	result, err := call.Run(ctx, s.service, nil, nil)
	if reset, ok := result.(service.ResetAnswer); ok && reset.Reset {
		s.log.Info("plugin reset", "plugin", call.Params.(*service.ResetRequest).Name, "by", "the local user",
			"from", "standard input")
	}
	return result, err
}
