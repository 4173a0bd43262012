package sdk

// Memo keeps what a strategy has worked out about a session's history from one Optimize to the next, so that the next
// call can work on what is new instead of on everything.
//
// A memo is a cache and never needed for correctness: the result must equal that of the same call with an empty memo
// and Unchanged 0. It is lost whenever the SDK has reason to: after a restart of the process, when the memory for
// mirrors is full, when the session ends, when Optimize returned an error, and when WorkspaceRoot, Config, Tools or
// Density are not those of the call that stored it. A strategy therefore need not put them into the memo.
//
// The calls of one session come one at a time where they share a memo, so that a stored value needs no lock and may be
// changed in place. Do not keep it elsewhere, and do not use it after Optimize has returned.
//
// The methods accept a nil *Memo, which keeps nothing; a new(Memo) keeps what is stored, for unit tests.
type Memo struct {
	value  any
	stored bool // since Stored was called: the value fits the history of this call
}

// Load returns what was stored last; nil if nothing was or the memo was lost.
func (m *Memo) Load() any {
	if m == nil {
		return nil
	}
	return m.value
}

// Store keeps v, which describes the History of this very call, all of it. The next call's [OptimizeInput.Unchanged]
// counts from here. Call it in every Optimize that has brought the value up to date, also when v is the pointer that
// Load returned. Store(nil) empties the memo.
//
// If v has a method MemoBytes() int, what it returns after the Optimize counts towards the limit for mirrors: how much
// memory v takes. Otherwise v should be small next to History. It may refer to texts of History, which live as long and
// are counted already.
func (m *Memo) Store(v any) {
	if m != nil {
		m.value, m.stored = v, true
	}
}

// Stored reports whether Store was called since Stored was called last. The SDK asks after each Optimize. A test that
// carries a memo from call to call asks too, to know where [OptimizeInput.Unchanged] counts from.
func (m *Memo) Stored() bool {
	if m == nil {
		return false
	}
	stored := m.stored
	m.stored = false
	return stored
}
