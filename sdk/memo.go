package sdk

// Memo keeps what a strategy has worked out about a session's history from one Optimize to the next, so the next call
// can work on what is new only.
//
// A memo is a cache: the result must equal that of the same call with an empty memo and Unchanged 0. It is lost after a
// restart of the process, when the memory for mirrors is full, when the session ends, when Optimize returned an error,
// and when WorkspaceRoot, Config, Tools or Density differ from the call that stored it. A strategy need not put these
// into the memo.
//
// Calls that share a memo come one at a time: a stored value needs no lock and may be changed in place. Do not keep it
// elsewhere, and do not use it after Optimize has returned.
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

// Store keeps v, which describes all of the History of this very call. The next call's [OptimizeInput.Unchanged] counts
// from here. Call it in every Optimize that has brought the value up to date, even if v is the pointer that Load
// returned. Store(nil) empties the memo.
//
// If v has a method MemoBytes() int, its result after the Optimize, the memory that v takes in bytes, counts towards
// the limit for mirrors. Otherwise v should be small next to History. It may refer to texts of History, which live as
// long and are counted already.
func (m *Memo) Store(v any) {
	if m != nil {
		m.value, m.stored = v, true
	}
}

// Stored reports whether Store was called since Stored was called last. The SDK asks after each Optimize; a test that
// carries a memo from call to call learns where [OptimizeInput.Unchanged] counts from.
func (m *Memo) Stored() bool {
	if m == nil {
		return false
	}
	stored := m.stored
	m.stored = false
	return stored
}
