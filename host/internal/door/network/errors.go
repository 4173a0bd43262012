package network

import (
	"context"
	"errors"
	"net/http"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
)

var (
	// errEnding refuses requests that come while the server ends. Another host may take them.
	errEnding = &api.Error{Kind: api.KindShutdown, Retryable: true, Message: "the host is shutting down"}
	// errNotLocal: a method is for the local user alone.
	errNotLocal = &api.Error{Kind: api.KindAccess,
		Message: "only the local user may do this: it concerns all users of the host"}
	// errBrowser refuses what a web page of someone else may have sent. It is checked before the token.
	errBrowser = &api.Error{Kind: api.KindAccess,
		Message: "requests of web pages are refused: Sec-Fetch-Site, Origin and Host are not those of this service"}
	// errCompressed refuses a body that would become larger than what was sent.
	errCompressed = &api.Error{Kind: api.KindRequest, Status: http.StatusUnsupportedMediaType,
		Message: "compressed requests are not accepted; answers are compressed if the client accepts it"}
)

// failure makes what a client gets of an error, and of the result beside it. ctx is the request's: an error that its
// deadline caused says so. What is not of a door, package service knows.
func failure(ctx context.Context, result any, err error) *api.Error {
	f := service.FailureOf(result, err)
	limit, isLimit := errors.AsType[*access.LimitError](err)
	switch {
	// First, because what a deadline breaks off fails in many ways, and none of them is the cause.
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Kind, f.Retryable = api.KindDeadline, true
		f.Status = service.StatusOf(f)
	case isLimit:
		if f.Limit = limit.Limit; limit.Limit == "requestBytes" {
			f.Status = http.StatusRequestEntityTooLarge
		}
	case errors.Is(err, access.ErrRefused):
		f.Status = http.StatusUnauthorized
	}
	if _, fault := errors.AsType[*store.Fault](err); fault {
		if c := callerOf(ctx); c != nil {
			c.fault = err
		}
	}
	return service.Public(f)
}

// refuse answers with an error, in the form that all methods have. ctx is that of a request which came through the gate.
func refuse(ctx context.Context, w http.ResponseWriter, err error) {
	f := failure(ctx, nil, err)
	callerOf(ctx).outcome = string(f.Kind)
	(&answerer{w: w}).fail(f)
}
