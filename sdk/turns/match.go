package turns

// Matcher finds the call that a response answers. It is the one place with that rule, for a whole history ([Pair]) and
// for programs that read a conversation as it grows. The zero value has seen nothing.
//
// Ids repeat in real transcripts, even within one message. A response answers the nearest preceding entry that holds an
// unanswered call with its id. If that entry holds several, it answers the first unanswered one with the name of its
// tool, else the first unanswered one: agents answer the calls of one message in their order. No call has two
// responses. The caller decides which blocks count, and where a conversation begins.
//
// All calls and responses together cost time linear in their number, even if all have the same id. An answered call has
// no effect any more: a program may continue after such a call and its response were removed from the conversation.
type Matcher struct {
	calls []waiting
	// The groups with one id are a stack: top has 1 + the index of the last one that may have an unanswered call.
	groups []group
	top    map[string]int32
	// named has the calls of groups of several calls by name, as 1 + the index of the next one to look at.
	named map[groupName]*queue
}

// waiting is a call. Its links are 1 + an index in Matcher.calls, 0 for none. Numbers have 32 bits: a matcher may live
// as long as its conversation, with thousands of calls.
type waiting struct {
	name         string
	entry, block int32
	group        int32 // 1 + the index of its group
	next         int32 // the next call of its group
	nextNamed    int32 // the next call of its group with its name
	answered     bool
}

func (w *waiting) at() At { return At{int(w.entry), int(w.block)} }

// group is the calls with one id in one entry, in order.
type group struct {
	queue
	id    string
	begin int32 // its first call
	below int32 // 1 + the index of the group with this id in a preceding entry
	size  int32
}

// queue is a linked list of calls. A call is in two queues, by order and by name, so a call answered through one leaves
// the other only when it reaches its head. The tail is kept when the queue is empty.
type queue struct{ head, tail int32 }

type groupName struct {
	group int32
	name  string
}

// Call adds a call of the tool name, in the order of the conversation.
func (m *Matcher) Call(id, name string, at At) {
	if m.top == nil {
		m.top = make(map[string]int32)
	}
	call := int32(len(m.calls) + 1)
	g := m.top[id]
	if g == 0 || m.calls[m.groups[g-1].begin-1].entry != int32(at.Entry) {
		m.groups = append(m.groups, group{id: id, begin: call, below: g})
		g = int32(len(m.groups))
		m.top[id] = g
	}
	m.calls = append(m.calls, waiting{name: name, entry: int32(at.Entry), block: int32(at.Block), group: g})
	in := &m.groups[g-1]
	in.size++
	if in.size == 2 {
		m.byName(g, in.tail) // with one call names do not matter; most ids have one
	}
	if in.size > 1 {
		m.byName(g, call)
	}
	in.push(m.calls, call, next)
}

func (m *Matcher) byName(group, call int32) {
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

// Response adds a response of the tool name, "" if unknown, and returns the call that it answers. ok is false if no
// call with its id waits.
func (m *Matcher) Response(id, name string) (call At, ok bool) {
	top := m.top[id]
	for g := top; g != 0; g = m.groups[g-1].below {
		n := int32(0)
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
			return m.calls[n-1].at(), true
		}
	}
	if top != 0 {
		m.top[id] = 0
	}
	return none, false
}

// Reset forgets everything and keeps the memory, in time proportional to what was added since the last Reset.
func (m *Matcher) Reset() {
	// One by one: clear takes the time of the largest that a map has ever been.
	for _, g := range m.groups {
		delete(m.top, g.id)
	}
	for _, c := range m.calls {
		delete(m.named, groupName{c.group, c.name})
	}
	m.calls, m.groups = m.calls[:0], m.groups[:0]
}

type link func(w *waiting) *int32

func next(w *waiting) *int32      { return &w.next }
func nextNamed(w *waiting) *int32 { return &w.nextNamed }

func (q *queue) push(calls []waiting, call int32, l link) {
	if q.tail != 0 {
		*l(&calls[q.tail-1]) = call
	}
	if q.head == 0 {
		q.head = call
	}
	q.tail = call
}

func (q *queue) first(calls []waiting, l link) int32 {
	for q.head != 0 && calls[q.head-1].answered {
		q.head = *l(&calls[q.head-1])
	}
	return q.head
}
