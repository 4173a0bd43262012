package wire

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/sdk/contract"
)

// codeOf is the order in which meanings are tried; the first that an error wraps is its code.
var codeOf = []struct {
	err  error
	code codes.Code
}{
	{context.Canceled, codes.Canceled},
	{context.DeadlineExceeded, codes.DeadlineExceeded},
	{contract.ErrUnavailable, codes.Unavailable},
	{contract.ErrNotGranted, codes.FailedPrecondition},
	{contract.ErrBudgetSpent, codes.ResourceExhausted},
	{contract.ErrNotFound, codes.NotFound},
}

// faultOf are meanings that do not come back from a code, because other faults share it.
var faultOf = []struct {
	err  error
	code codes.Code
}{
	{ErrProtocol, codes.InvalidArgument},
	{rewrite.ErrBadResult, codes.Internal},
	{ErrBadContent, codes.Internal},
}

// ToStatus makes of an error what a gRPC handler returns: the code says what it means, the message is its text. An
// error that already is a status keeps its code. Anything else is UNKNOWN, which is also what gRPC libraries of other
// languages make of an exception.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	return status.Error(code(err), validUTF8(err.Error()))
}

// code finds the meaning of an error: first what the two sides agreed on, then the faults of one side, then a status
// that the error carries already.
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

// RemoteError is an error that came over gRPC. errors.Is finds in it what its code means: [contract.ErrUnavailable],
// [contract.ErrNotGranted], [contract.ErrBudgetSpent], [contract.ErrNotFound], context.Canceled and
// context.DeadlineExceeded.
type RemoteError struct {
	Code    codes.Code
	Message string
}

// FromStatus makes of an error of a gRPC call a [*RemoteError]; errors that did not come from gRPC stay as they are.
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

// Error returns the other side's words, or the name of the code if it had none.
func (e *RemoteError) Error() string {
	if e.Message == "" {
		return e.Code.String()
	}
	return e.Message
}

// Is reports whether target is what the code means.
func (e *RemoteError) Is(target error) bool {
	for _, m := range codeOf {
		if m.code == e.Code {
			return target == m.err
		}
	}
	return false
}

// GRPCStatus lets the code pass on when the error is returned from another handler.
func (e *RemoteError) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }
