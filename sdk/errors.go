package sdk

import "errors"

// Why a call of [Host] fails, for errors.Is. They keep their meaning across the process boundary: a strategy may return
// them, wrapped or not. Every other error means that the call failed and that asking again would not help.
var (
	// ErrUnavailable: the same call made later can succeed.
	ErrUnavailable = errors.New("temporarily unavailable")
	// ErrNotGranted: the host does not offer this: no usable provider profile, no [Info.RequiresLLM], or the call that
	// the [Host] belonged to is over.
	ErrNotGranted = errors.New("not granted by the host")
	// ErrBudgetSpent: the call's budget of tokens or requests is used up.
	ErrBudgetSpent = errors.New("budget spent")
	// ErrNotFound: no prompt has that name.
	ErrNotFound = errors.New("not found")
)
