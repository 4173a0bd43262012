package network

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Errors as clients see them: a code that every gRPC client understands, and a detail with thresh's own kind, which
// says more. The kinds are those of package host; the three others (request, limit, access) are this door's.

// errEnding refuses requests that come while the server ends. Another host may take them. Unavailable tells clients and
// load balancers that a retry is safe: nothing was done.
var errEnding = connect.NewError(connect.CodeUnavailable, errors.New("the host is shutting down"))

// codes are the status codes of the kinds of errors. A kind that is not here is Unavailable if a retry can help, and
// Internal otherwise. Codes are for generic clients, which retry by them; the kind in the detail is for those that know
// thresh.
var codes = map[host.Kind]connect.Code{
	host.KindEntry:    connect.CodeInvalidArgument,
	host.KindSetting:  connect.CodeInvalidArgument,
	host.KindSession:  connect.CodeNotFound,
	host.KindStrategy: connect.CodeFailedPrecondition,
	host.KindOverflow: connect.CodeFailedPrecondition,
	host.KindCanceled: connect.CodeCanceled,
	host.KindDeadline: connect.CodeDeadlineExceeded,
}

// failure turns an error into a status with an ErrorDetail. ctx is the request's: an error that its deadline caused
// says so. nil stays nil, and an error that is a status already stays as it is, so that it may be called twice.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*connect.Error](err); ok {
		return own
	}
	detail := detailOf(err)
	code, known := codes[host.Kind(detail.GetKind())]
	switch {
	// First, because what a deadline breaks off fails in many ways, and none of them is the cause.
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, access.ErrSlow):
		code, detail.Kind, detail.Retryable = connect.CodeDeadlineExceeded, string(host.KindDeadline), true
	// Of the kind session like an unknown id, but a generic client should be able to tell the two apart.
	case errors.Is(err, host.ErrSessionExists):
		code = connect.CodeAlreadyExists
	// Of that kind too, where it is the request that is wrong.
	case errors.Is(err, store.ErrID):
		code = connect.CodeInvalidArgument
	case known:
	case detail.GetKind() == "request":
		code = connect.CodeInvalidArgument
	case detail.GetKind() == "limit":
		code = connect.CodeResourceExhausted
	case errors.Is(err, access.ErrRefused):
		code = connect.CodeUnauthenticated
	case detail.GetKind() == "access":
		code = connect.CodePermissionDenied
	case detail.GetRetryable():
		code = connect.CodeUnavailable
	default:
		code = connect.CodeInternal
	}
	if fault := (*store.Fault)(nil); errors.As(err, &fault) {
		if c := callerOf(ctx); c != nil {
			c.fault = err
		}
		err = errors.New(store.Public(err))
	}
	status := connect.NewError(code, err)
	// Without its detail the status is still of use.
	if d, err := connect.NewErrorDetail(detail); err == nil {
		status.AddDetail(d)
	}
	return status
}

// errNotLocal: a method is for the local user alone.
var errNotLocal = errors.New("only the local user may do this: it concerns all users of the host")

func detailOf(err error) *sessionv1.ErrorDetail {
	var (
		request *service.RequestError
		limit   *access.LimitError
	)
	switch {
	case errors.As(err, &request):
		return &sessionv1.ErrorDetail{Kind: "request"}
	case errors.Is(err, store.ErrID):
		return &sessionv1.ErrorDetail{Kind: string(host.KindSession)}
	case errors.As(err, &limit):
		return &sessionv1.ErrorDetail{Kind: "limit", Limit: limit.Limit, Retryable: limit.Retryable}
	case errors.Is(err, access.ErrRefused), errors.Is(err, errNotLocal), errors.Is(err, errBrowser):
		return &sessionv1.ErrorDetail{Kind: "access"}
	}
	// The store may have failed before the host was asked.
	known := host.ErrorOf(err)
	return &sessionv1.ErrorDetail{
		Kind: string(known.Kind), Retryable: known.Retryable, MaybeApplied: known.MaybeApplied, Plugin: known.Plugin,
		MissingTokens: int32of(known.MissingTokens), Entry: optional(known.Entry), Part: optional(known.Part),
	}
}
