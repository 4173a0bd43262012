package window

import (
	"context"
	"fmt"
	"runtime/debug"
)

// PanicError is what the caller of a method that panicked gets: a defect of this program, which must not end others'
// sessions.
type PanicError struct {
	Method string
	Value  any
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s panicked: %v (a defect of thresh: please report it with the stack, which is in the log)",
		e.Method, e.Value)
}

// Panicked logs and counts a recovered panic, and returns it as an error. Call it in the deferred function that
// recovered: only there is the stack still the panic's.
func (h *Host) Panicked(method string, value any) error {
	h.log.Error("a method panicked", "method", method, "panic", fmt.Sprint(value), "stack", string(debug.Stack()))
	h.metrics.Panic(context.Background(), method)
	return &PanicError{method, value}
}
