package sdk

import "github.com/thresh-dev/thresh/sdk/contract"

// What [Host] calls fail of, for errors.Is. A strategy may return them, or errors that wrap them, as its own: the host
// reads their meaning. Every other error means that the call failed and that asking again would not help.
var (
	// ErrUnavailable means that the failure may pass: the same call made again later can succeed.
	ErrUnavailable = contract.ErrUnavailable
	// ErrNotGranted means that the host does not offer this: no usable provider profile, no [Info.RequiresLLM], or the
	// call that the [Host] belonged to is over.
	ErrNotGranted = contract.ErrNotGranted
	// ErrBudgetSpent means that the call's budget of tokens or requests is used up.
	ErrBudgetSpent = contract.ErrBudgetSpent
	// ErrNotFound means that no prompt has that name.
	ErrNotFound = contract.ErrNotFound
)
