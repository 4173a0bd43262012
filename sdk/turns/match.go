package turns

// Matcher finds the call that a response answers. It is the one place with that rule, for a whole history ([Pair]) and
// for programs that read a conversation as it grows. The zero value has seen nothing.
//
// Ids repeat in real transcripts: a response answers the nearest preceding call with its id that is not answered yet,
// so that no call has two responses. Which blocks count, and where a conversation begins, is the caller's to say.
type Matcher struct {
	// The unanswered calls with one id are a stack: top has 1 + the index of the last one, 0 for none.
	calls []waiting
	top   map[string]int
}

// waiting is a call; below is 1 + the index of the preceding unanswered call with its id.
type waiting struct {
	at    At
	below int
}

// Call takes in a call, in the order of the conversation.
func (m *Matcher) Call(id string, at At) {
	if m.top == nil {
		m.top = make(map[string]int)
	}
	m.calls = append(m.calls, waiting{at, m.top[id]})
	m.top[id] = len(m.calls)
}

// Response takes in a response and returns the call that it answers; ok is false if no call with its id waits.
func (m *Matcher) Response(id string) (call At, ok bool) {
	n := m.top[id]
	if n == 0 {
		return none, false
	}
	w := m.calls[n-1]
	m.top[id] = w.below
	return w.at, true
}
