package stdio

import (
	"errors"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// failure turns an error into what an agent gets, and the result beside it: even after a failed turn the agent can go
// on, with the history as it is.
func failure(result any, err error) *jsonrpc.Error {
	if own, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return own
	}
	f := service.FailureOf(result, err)
	e := &jsonrpc.Error{Code: jsonrpc.CodeFailed, Message: f.Message, Data: f}
	if f.Kind == api.KindRequest {
		e.Code, e.Message = jsonrpc.CodeParams, "params: "+f.Message
	}
	f.Message = ""
	return e
}
