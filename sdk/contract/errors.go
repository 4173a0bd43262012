package contract

import "errors"

// Why a call failed, where a caller can act on it. They keep their meaning across the process boundary: errors.Is finds
// on one side what the other side wrapped.
var (
	// ErrUnavailable: the same call made later can succeed.
	ErrUnavailable = errors.New("temporarily unavailable")
	// ErrNotGranted: the host does not offer this to the strategy, now or at all.
	ErrNotGranted = errors.New("not granted by the host")
	// ErrBudgetSpent: the call's budget of tokens or requests is used up.
	ErrBudgetSpent = errors.New("budget spent")
	// ErrNotFound: nothing has that name.
	ErrNotFound = errors.New("not found")
)
