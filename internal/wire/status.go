package wire

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk"
)

// codeOf maps the meanings that both sides agree on to codes and back. The first that an error wraps is its code:
// context errors come first, because a cancelled call often fails with another error as well. No code may occur twice,
// or [RemoteError.Is] would miss the second meaning.
var codeOf = []struct {
	err  error
	code codes.Code
}{
	{context.Canceled, codes.Canceled},
	{context.DeadlineExceeded, codes.DeadlineExceeded},
	{sdk.ErrUnavailable, codes.Unavailable},
	{sdk.ErrNotGranted, codes.FailedPrecondition},
	{sdk.ErrBudgetSpent, codes.ResourceExhausted},
	{sdk.ErrNotFound, codes.NotFound},
}

// faultOf maps one side's faults to codes, one way only: gRPC itself and other libraries use these codes too.
var faultOf = []struct {
	err  error
	code codes.Code
}{
	{ErrProtocol, codes.InvalidArgument},
	{rewrite.ErrBadResult, codes.Internal},
	{ErrBadContent, codes.Internal},
}

// ToStatus turns an error into what a gRPC handler returns: the code is its meaning, the message its text. An error
// that carries a status keeps its code. Anything else is UNKNOWN, which is also what gRPC libraries of other languages
// make of an exception. nil stays nil.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(code(err), validUTF8(err.Error()))
}

// code prefers agreed meanings to one side's faults, and both to a status that the error carries: wrapping an error in
// ErrUnavailable must win over the code of the failed call inside it.
func code(err error) codes.Code {
	for _, m := range codeOf {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	for _, m := range faultOf {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if errors.As(err, &carrier) && carrier.GRPCStatus().Code() != codes.OK {
		return carrier.GRPCStatus().Code()
	}
	return codes.Unknown
}

// RemoteError is an error that came over gRPC. errors.Is works by code: it finds [sdk.ErrUnavailable],
// [sdk.ErrNotGranted], [sdk.ErrBudgetSpent], [sdk.ErrNotFound], context.Canceled and
// context.DeadlineExceeded. The message is the other side's, without gRPC's "rpc error: code = …" prefix.
type RemoteError struct {
	Code    codes.Code
	Message string
}

// FromStatus turns an error of a gRPC call into a [*RemoteError]. Errors without a status, such as this side's own, and
// nil are returned as they are.
func FromStatus(err error) error {
	if err == nil {
		return nil
	}
	var carrier interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &carrier) {
		return err
	}
	s := carrier.GRPCStatus()
	return &RemoteError{Code: s.Code(), Message: s.Message()}
}

func (e *RemoteError) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return e.Message
}

func (e *RemoteError) Is(target error) bool {
	for _, m := range codeOf {
		if m.code == e.Code {
			return target == m.err
		}
	}
	return false
}

// GRPCStatus keeps the code when a handler returns the error to its own caller; it would become UNKNOWN otherwise.
func (e *RemoteError) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }
