package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// patience is how long a host tries to reach a database before a call fails, in seconds, as package postgres has it.
const patience = 10

// Result is what a simulation found. It includes the model, so that a row can show both.
type Result struct {
	Model
	Appends, MB, Loads float64 // a second, all databases together, while nothing fails
	PeakLoads          float64 // the most in a second after a host failed
	Busy, PeakBusy     float64 // share of the cores of the busiest database, and when a host has failed
	Wait, FailWait     float64 // seconds a call waits: p99 while nothing fails, the longest after a database failed
	GivenUp            float64 // share of turns after the failure of a database that waited longer than patience
	Leases, LeaseWaits int     // compressions, and turns that found another host at work on the session
}

// world is the state of a simulation. Time is in whole seconds. Nothing in it depends on the clock or on the order of a
// map, so a seed gives one result.
type world struct {
	Model
	rng      *rand.Rand
	sessions []session
	hosts    []host
	due      [][]int32 // sessions by the second of their next turn
	queue    []float64 // core seconds of work that waits, by database
}

// run simulates. All databases have the same share of the sessions, and all hosts have had theirs for a while. It ends
// with the averages of the steady time, and the worst of the times after each failure.
func (m Model) run() Result {
	w := &world{Model: m, rng: rand.New(rand.NewPCG(m.Seed, 0)), sessions: make([]session, m.Sessions),
		hosts: make([]host, m.Hosts), due: make([][]int32, m.Seconds), queue: make([]float64, m.Databases)}
	// Every session is in memory at the start, and its first turn comes at a random time: a cold start is not what is
	// measured.
	for i := range w.sessions {
		w.sessions[i].host = -1
		w.touch(int32(i), int32(i%m.Hosts))
		w.schedule(int32(i), w.pause())
	}
	r := Result{Model: m}
	var waits []float64
	var steady, turnsAfter, givenUp float64
	for now := range m.Seconds {
		// The host fails first, alone; the database when the sessions have been loaded elsewhere.
		if now == m.HostFailsAt {
			w.fail(0, now+m.HostRestarts)
		}
		s := w.second(now, &r)
		// A database works through its queue with all its cores: what waits, divided by them, is how long the last call
		// waits.
		wait := slices.Max(w.queue) / float64(m.Cores)
		busy := slices.Max(s.work) / float64(m.Cores)
		switch {
		// The first fifth is for the caches to settle.
		case now >= m.Seconds/5 && now < m.HostFailsAt:
			steady++
			r.Appends += s.appends
			r.Loads += s.loads
			r.MB += s.kb / 1000
			r.Busy += busy
			waits = append(waits, wait)
		case now >= m.HostFailsAt && now < m.DBFailsAt:
			r.PeakLoads, r.PeakBusy = max(r.PeakLoads, s.loads), max(r.PeakBusy, busy)
		case now >= m.DBFailsAt:
			// Database 0 is down. A call that comes now waits until it is back, and then for the queue.
			if left := m.DBFailsAt + m.Failover - now; left > 0 {
				wait = max(wait, float64(left)+w.queue[0]/float64(m.Cores))
			}
			r.FailWait = max(r.FailWait, wait)
			turnsAfter += s.turns
			// Only the sessions of one database are concerned.
			if wait > patience {
				givenUp += s.turns / float64(m.Databases)
			}
		}
	}
	r.Appends, r.Loads, r.MB, r.Busy = r.Appends/steady, r.Loads/steady, r.MB/steady, r.Busy/steady
	slices.Sort(waits)
	r.Wait = waits[len(waits)*99/100]
	r.GivenUp = givenUp / turnsAfter
	return r
}

// pause is the time to a session's next turn. It is exponential: agents do not wait for each other.
func (w *world) pause() float64 { return -w.TurnEvery * math.Log(1-w.rng.Float64()) }

// schedule makes a session's next turn due some seconds from the beginning. Turns after the end of the simulation are
// dropped.
func (w *world) schedule(s int32, at float64) {
	if second := int(at); second < len(w.due) {
		w.due[second] = append(w.due[second], s)
	}
}

// sums are what happened in a second.
type sums struct {
	turns, appends, loads, kb float64
	work                      []float64 // core seconds that came, by database
}

// second lets all sessions that are due have their turn. The order of the turns is that in which they became due, which
// is fixed.
func (w *world) second(now int, r *Result) sums {
	s := sums{work: make([]float64, w.Databases)}
	for _, id := range w.due[now] {
		sess := &w.sessions[id]
		on := w.route(id, now)
		cost := float64(w.AppendsPerTurn) * w.AppendCost
		if w.touch(id, on) {
			s.loads++
			cost += w.LoadCost * float64(w.Entries)
		}
		// A turn that finds the lease taken does without a Compress.
		if int(sess.leasedTo) > now && sess.leasedHost != on {
			r.LeaseWaits++
		} else if w.rng.IntN(w.CompressEvery) == 0 {
			// Taking and giving back the lease, and the rewrite, cost as much as three appends.
			r.Leases++
			sess.leasedTo, sess.leasedHost = int32(now+w.CompressFor), on
			cost += 3 * w.AppendCost
			s.appends++
		}
		s.turns++
		s.appends += float64(w.AppendsPerTurn)
		s.kb += w.TurnKB
		s.work[int(id)%w.Databases] += cost
		w.schedule(id, float64(now)+w.rng.Float64()+w.pause())
	}
	w.due[now] = nil
	// Each database does a second's work of its queue, and none while it is down.
	for db := range w.queue {
		w.queue[db] += s.work[db]
		if down := db == 0 && now >= w.DBFailsAt && now < w.DBFailsAt+w.Failover; !down {
			w.queue[db] = max(0, w.queue[db]-float64(w.Cores))
		}
	}
	return s
}

// route is the host that a turn comes to: by the session's name, or any if that one is down or the balancer errs. A
// host that is down passes its turns to random ones, so that no single neighbour gets all of its load.
func (w *world) route(s int32, now int) int32 {
	on := s % int32(w.Hosts)
	if w.rng.Float64() < w.Astray {
		on = w.rng.Int32N(int32(w.Hosts))
	}
	for w.hosts[on].downTo > now {
		on = w.rng.Int32N(int32(w.Hosts))
	}
	return on
}
