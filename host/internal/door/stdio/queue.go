package stdio

import (
	"sync"

	"github.com/thresh-dev/thresh/host"
)

// queue runs the requests for one session id one after another, in the order in which they arrived. A prepare runs in
// the background: requests that must wait for it hold the queue, others (history.add) go on.
type queue struct {
	session *host.Session // nil before it is opened and after it is closed; used by jobs only
	prepare chan struct{} // closed when the last prepare has ended; nil if there was none; used by jobs only

	waiting []job // guarded by queues.mu, as is running
	running bool
}

// job is one request.
type job struct {
	run func(*queue)
	// waits says that the job runs only when the prepares before it have ended.
	waits bool
}

// inBackground runs f once the prepares before it have ended, without waiting for that.
func (q *queue) inBackground(f func()) {
	before, ended := q.prepare, make(chan struct{})
	q.prepare = ended
	go func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		f()
	}()
}

// queues are the queues of all ids that are in use.
type queues struct {
	mu   sync.Mutex
	byID map[string]*queue
}

// push appends a job to the queue of an id. If there is no such queue, it creates one or, without create, returns
// false.
func (all *queues) push(id string, j job, create bool) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	q := all.byID[id]
	if q == nil {
		if !create {
			return false
		}
		q = &queue{}
		all.byID[id] = q
	}
	q.waiting = append(q.waiting, j)
	if !q.running {
		q.running = true
		go all.run(id, q)
	}
	return true
}

// run runs the jobs of a queue until there are none.
func (all *queues) run(id string, q *queue) {
	for {
		j, ok := all.next(id, q)
		if !ok {
			return
		}
		if j.waits && q.prepare != nil {
			<-q.prepare
		}
		j.run(q)
	}
}

// next takes the first job. If there is none, the queue stops running, and is removed if its session is not open.
func (all *queues) next(id string, q *queue) (job, bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(q.waiting) == 0 {
		q.running = false
		if q.session == nil {
			delete(all.byID, id)
		}
		return job{}, false
	}
	j := q.waiting[0]
	q.waiting = q.waiting[1:]
	return j, true
}

// close closes the sessions that are still open. It must be called when no job is queued or running. A session whose
// transcript cannot be written stays open: host.Close tries again and reports it.
func (all *queues) close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, q := range all.byID {
		if q.session != nil {
			_ = q.session.Close()
		}
		delete(all.byID, id)
	}
}
