package stdio

import (
	"context"
	"sync"

	"github.com/thresh-dev/thresh/host"
)

// The order of a session's requests. An agent may send the next request before it has read the last reply, so order
// is kept here and not by the agent's waiting.

// queue runs the requests for one session id in the order in which they arrived. history.add runs in the queue itself.
// All other methods may take long or come after one that does, so they run in the background, one after another: an
// addition overtakes them, and a mark in the history keeps from them what was added after they arrived. Opening and
// closing a session hold the queue.
type queue struct {
	session *host.Session // nil before it is opened and after it is closed; used by jobs only
	last    chan struct{} // closed when the last background job has ended; nil: there was none; used by jobs only

	// waiting are the requests that have not begun, in the order of their arrival.
	waiting []job // guarded by queues.mu, as is running
	running bool
}

// job is one request. run is called once, on the goroutine of its queue.
type job struct {
	run func(*queue)
	// holds says that the job waits for all before it, and that those after it wait for the job.
	holds bool
}

// await waits for the background jobs so far.
func (q *queue) await() {
	if q.last != nil {
		<-q.last
	}
}

// inBackground runs f once the background jobs before it have ended, without waiting for that. Each job waits for the
// one before by its channel, so that the order holds without a lock.
func (q *queue) inBackground(f func()) {
	before, ended := q.last, make(chan struct{})
	q.last = ended
	go func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		f()
	}()
}

// queues are the queues of all ids that are in use. A queue exists from the first session.open with its id until its
// session is closed and nothing waits.
type queues struct {
	// mu guards byID, and of each queue waiting and running. No job runs under it.
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
	// Without a bound of its own: the server bounds how many requests of a connection are unanswered.
	q.waiting = append(q.waiting, j)
	// At most one goroutine runs the jobs of a queue.
	if !q.running {
		q.running = true
		go all.run(id, q)
	}
	return true
}

// run runs the jobs of a queue until there are none. It ends when there is nothing to do, so that an idle session costs
// no goroutine.
func (all *queues) run(id string, q *queue) {
	for {
		j, ok := all.next(id, q)
		if !ok {
			return
		}
		if j.holds {
			q.await()
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
		// Without this, ids that failed to open would stay for as long as the process runs.
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
			_ = q.session.Close(context.Background())
		}
		delete(all.byID, id)
	}
}
