package turns

// Matcher finds the call that a response answers. It is the one place with that rule, for a whole history ([Pair]) and
// for programs that read a conversation as it grows. The zero value has seen nothing.
//
// Ids repeat in real transcripts, even within one message. A response answers the nearest preceding entry that holds an
// unanswered call with its id. Where that entry holds several, it answers the first unanswered one with the name of its
// tool, else the first unanswered one: agents answer the calls of one message in their order. No call has two
// responses. Which blocks count, and where a conversation begins, is the caller's to say.
//
// All calls and responses together cost time linear in their number, also where all have the same id.
type Matcher struct {
	calls []waiting
	// The groups with one id are a stack: top has 1 + the index of the last one that may have an unanswered call.
	groups []group
	top    map[string]int
	// named has the calls of groups of several calls by name, as 1 + the index of the next one to look at.
	named map[groupName]*queue
}

// waiting is a call. Its links are 1 + an index in Matcher.calls, 0 for none.
type waiting struct {
	at        At
	name      string
	answered  bool
	next      int // the next call of its group
	nextNamed int // the next call of its group with its name
}

// group is the calls with one id in one entry, in order.
type group struct {
	queue
	entry int
	below int // 1 + the index of the group with this id in a preceding entry
	size  int
}

// queue is a list of calls that are linked in their order. A call is in two queues, by order and by name, so a call
// that was answered through one leaves the other when it comes to its head.
type queue struct{ head, tail int }

type groupName struct {
	group int
	name  string
}

// Call takes in a call of the tool name, in the order of the conversation.
func (m *Matcher) Call(id, name string, at At) {
	if m.top == nil {
		m.top = make(map[string]int)
	}
	m.calls = append(m.calls, waiting{at: at, name: name})
	g := m.top[id]
	if g == 0 || m.groups[g-1].entry != at.Entry {
		m.groups = append(m.groups, group{entry: at.Entry, below: g})
		g = len(m.groups)
		m.top[id] = g
	}
	in := &m.groups[g-1]
	in.size++
	if in.size == 2 {
		m.byName(g, in.tail) // with one call names do not matter; most ids have one
	}
	if in.size > 1 {
		m.byName(g, len(m.calls))
	}
	in.push(m.calls, len(m.calls), next)
}

// byName puts a call at the end of the queue of its name.
func (m *Matcher) byName(group, call int) {
	if m.named == nil {
		m.named = make(map[groupName]*queue)
	}
	key := groupName{group, m.calls[call-1].name}
	q := m.named[key]
	if q == nil {
		q = &queue{}
		m.named[key] = q
	}
	q.push(m.calls, call, nextNamed)
}

// Response takes in a response of the tool name, "" if it does not say, and returns the call that it answers. ok is
// false if no call with its id waits.
func (m *Matcher) Response(id, name string) (call At, ok bool) {
	top := m.top[id]
	for g := top; g != 0; g = m.groups[g-1].below {
		n := 0
		if q := m.named[groupName{g, name}]; q != nil {
			n = q.first(m.calls, nextNamed)
		}
		if n == 0 {
			n = m.groups[g-1].first(m.calls, next)
		}
		if n != 0 {
			if g != top {
				m.top[id] = g // the groups above are answered
			}
			m.calls[n-1].answered = true
			return m.calls[n-1].at, true
		}
	}
	if top != 0 {
		m.top[id] = 0
	}
	return none, false
}

// link is which of a call's links a queue follows.
type link func(w *waiting) *int

func next(w *waiting) *int      { return &w.next }
func nextNamed(w *waiting) *int { return &w.nextNamed }

// push puts a call at the end.
func (q *queue) push(calls []waiting, call int, l link) {
	if q.head == 0 {
		q.head = call
	} else {
		*l(&calls[q.tail-1]) = call
	}
	q.tail = call
}

// first returns the first unanswered call, 0 if there is none.
func (q *queue) first(calls []waiting, l link) int {
	for q.head != 0 && calls[q.head-1].answered {
		q.head = *l(&calls[q.head-1])
	}
	return q.head
}
