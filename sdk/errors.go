package sdk

import "github.com/thresh-dev/thresh/sdk/contract"

// Why a call of [Host] fails, for errors.Is. A strategy may return them, wrapped or not: the host reads their meaning.
// Every other error means that the call failed and that asking again would not help.
var (
	// ErrUnavailable means that the same call made later can succeed.
	ErrUnavailable = contract.ErrUnavailable
	// ErrNotGranted means that the host does not offer this: no usable provider profile, no [Info.RequiresLLM], or the
	// call that the [Host] belonged to is over.
	ErrNotGranted = contract.ErrNotGranted
	// ErrBudgetSpent means that the call's budget of tokens or requests is used up.
	ErrBudgetSpent = contract.ErrBudgetSpent
	// ErrNotFound means that no prompt has that name.
	ErrNotFound = contract.ErrNotFound
)
