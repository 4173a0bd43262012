package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// fault is a kind of thing that must not happen. Its text is its row in the table.
type fault string

const (
	// invalid: a provider would refuse the history, or the words of a person are missing.
	invalid fault = "invalid histories"
	// lost: an acknowledged entry is not in the transcript log, or is gone from the history without a word.
	lost fault = "lost entries"
	// unclear: an error does not tell an agent what to do; see unclearBecause.
	unclear fault = "unclear errors"
	// unrecovered: a session fails although nothing is disturbed any more.
	unrecovered fault = "sessions that did not recover"
	leftover    fault = "processes, directories and sockets left"
	// ending: thresh itself failed, or the driver could not do its work.
	ending fault = "failures of thresh itself"
)

// faults are all kinds, in the order of the table. All are in it, also those that did not happen. In the order of the
// table.
var faults = []fault{invalid, lost, unclear, unrecovered, leftover, ending}

// maxShown is how many faults of a kind are shown in full.
const maxShown = 5

// report counts what happened. It is safe for concurrent use.
type report struct {
	o options

	mu sync.Mutex
	// took is from the start of the agents to the end of the last one, recovery included.
	took time.Duration
	// prepares counts window.prepare, also failed ones; rewrote those whose outcome names a change.
	prepares, rewrote int
	// added counts entries, closed sessions.
	added, closed int
	strikes       map[string]int // by what was done
	errors        map[string]int // by kind, and whether a retry may help
	// slowest is the longest window.prepare, as an agent sees it: with waiting for starts, and for timeouts.
	slowest time.Duration
	faults  map[fault]int
	shown   []string // the first of each kind, in full
}

func newReport(o options) *report {
	return &report{o: o, strikes: map[string]int{}, errors: map[string]int{}, faults: map[fault]int{}}
}

// fault records something that must not happen.
func (r *report) fault(f fault, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// All are counted; a fault that repeats is shown a few times.
	if r.faults[f]++; r.faults[f] <= maxShown {
		r.shown = append(r.shown, string(f)+": "+fmt.Sprintf(format, args...))
	}
}

// struck counts something that was done to a plugin. struck counts something that was done to a plugin.
func (r *report) struck(how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.strikes[how]++
}

// acknowledged counts entries for which history.add succeeded. From then on they must not be lost. acknowledged counts
// entries that the host has taken.
func (r *report) acknowledged(n int) {
	r.mu.Lock()
	// Before fault, which takes the lock again.
	defer r.mu.Unlock()
	r.added += n
}

// sessionClosed counts a session whose history was complete at its end, or reported as a fault.
func (r *report) sessionClosed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed++
}

// prepared counts a window.prepare. An error that does not say whose fault it is, and whether to try again, is one
// that an agent cannot act on.
func (r *report) prepared(took time.Duration, changes int, err *rpcError) {
	r.mu.Lock()
	r.prepares++
	r.slowest = max(r.slowest, took)
	if changes > 0 {
		r.rewrote++
	}
	// What lacks this is counted as unclear below, and would need a row of its own here.
	if err != nil && err.Data != nil && err.Data.Retryable != nil {
		word := " (retryable)"
		if !*err.Data.Retryable {
			word = " (final)"
		}
		r.errors[err.Data.Kind+word]++
	}
	r.mu.Unlock()
	if why := unclearBecause(err); why != "" {
		r.fault(unclear, "%s: %+v", why, err)
	}
}

// unclearWords are what libraries say about a connection or a process that broke. They mean nothing to an agent's user.
var unclearWords = []string{
	// Also what Go prints for a format or a pointer that is wrong.
	"rpc error", "code = ", "transport:", "EOF", "broken pipe", "connection reset", "connection refused",
	"use of closed", "context canceled", "nil pointer", "runtime error", "%!", "<nil>", "error reading from server",
}

// unclearBecause says why an agent could not act on an error; "" if it can.
func unclearBecause(err *rpcError) string {
	if err == nil {
		return ""
	}
	d := err.Data
	// "internal" is the host's word for an error that it cannot place; while plugins are disturbed, none may be.
	switch {
	// An internal error means that the host was surprised.
	case d == nil || d.Kind == "" || d.Kind == "internal":
		return "no kind"
	case d.Retryable == nil:
		return "does not say whether to retry"
	case d.Plugin == "" && (d.Kind == "plugin" || d.Kind == "host" || d.Kind == "model"):
		return "names no plugin"
	}
	for _, words := range unclearWords {
		if strings.Contains(err.Message, words) {
			return "says " + words
		}
	}
	return ""
}

// good reports whether nothing happened that must not.
func (r *report) good() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.faults) == 0
}

// print prints the table, at most 80 columns wide, and some of each kind of fault in full.
func (r *report) print(w io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := func(name string, value any) { fmt.Fprintf(w, "  %-42s %v\n", name, value) }
	fmt.Fprintf(w, "chaos: %d sessions for %v, seed %d\n\n", r.o.sessions, r.took.Round(time.Second), r.o.seed)
	row("prepares", r.prepares)
	row("prepares that changed the history", r.rewrote)
	row("entries added", r.added)
	row("sessions closed", r.closed)
	row("slowest prepare", fmt.Sprintf("%.2f s", r.slowest.Seconds()))
	for _, how := range slices.Sorted(maps.Keys(r.strikes)) {
		row("plugins "+how, r.strikes[how])
	}
	// Errors are no fault: plugins that are killed fail calls. The numbers say how much of the run was spent on them.
	for _, kind := range slices.Sorted(maps.Keys(r.errors)) {
		row("errors of kind "+kind, r.errors[kind])
	}
	fmt.Fprintln(w)
	for _, f := range faults {
		row(string(f), r.faults[f])
	}
	for _, text := range r.shown {
		fmt.Fprintf(w, "\n%.1000s\n", text)
	}
}
