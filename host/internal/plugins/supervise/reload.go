package supervise

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/outcome"
)

var (
	errReplaced = errors.New("replaced by a new version")
	errRemoved  = errors.New("no usable file is left")
)

// ErrSame is what [Host.Start] returns for a binary that already runs, for example after a file was only touched.
var ErrSame = errors.New("same file")

// look compares the strategy's file with the one that runs. exists reports whether there is a usable file. While a
// start is in progress it only takes a note: the start may already use the new file.
func (o *owner) look(c discover.Candidate, exists bool) {
	switch {
	case o.closing:
	case o.coming.starting || o.coming.replacing:
		o.coming.lookAgain = true // when that is done
	case o.current == nil:
		if last := o.version.binary; exists && last != nil && (c.Path != last.Path || last.Differs()) {
			o.clearCrashes("the file has changed")
		}
	case (!exists || c.BuiltIn) && away(o.current.Binary()):
		if state, _ := o.s.State(); state == outcome.StateReady {
			o.to(outcome.StateReady, isAway)
		}
	case !exists:
		o.giveUp(errRemoved)
	case c.Path != o.current.Binary().Path || o.current.Binary().Differs():
		o.replace()
	default:
		if state, reason := o.s.State(); state == outcome.StateReady && reason == isAway {
			o.to(outcome.StateReady, "")
		}
	}
}

// isAway is why a process whose file cannot be seen is kept.
const isAway = "its directory is away: the process that runs stays in use"

// away reports whether the directory of a file is missing, for example while its volume is mounted again: no one has
// removed the file.
func away(b *discover.Binary) bool {
	_, err := os.Stat(filepath.Dir(b.Path))
	return !b.BuiltIn && errors.Is(err, fs.ErrNotExist)
}

// replace starts the new version of the file while the current process continues to take calls. If the new version
// fails, nothing has changed for the sessions.
func (o *owner) replace() {
	o.coming.replacing = true
	o.active++
	sum := o.current.Binary().Sum
	go func() {
		p, err := o.s.launch(Start{Unless: sum, Reached: func(state outcome.PluginState, _ *discover.Binary) {
			o.log.Debug("new version: plugin state changed", "to", state)
		}})
		o.s.commands <- func(o *owner) { o.replaced(p, err) }
	}()
}

// replaced processes the result of replace: sessions use the new process from their next call on.
func (o *owner) replaced(p *instance, err error) {
	o.coming.replacing = false
	defer o.lookOnceMore()
	if err != nil {
		o.active--
		o.notReplaced(err)
		o.askAgain() // calls wait only if the old one crashed meanwhile
		return
	}
	o.version.binary = p.Binary()
	o.describe(p)
	o.crashes.forget()
	o.install(p)
}

// notReplaced reports why the new version is not used. The old one continues, if it still runs.
func (o *owner) notReplaced(err error) {
	if errors.Is(err, ErrSame) || o.closing {
		return
	}
	o.coming.retry = errors.Is(err, fault.ErrHost)
	reason := fault.Sentence(err)
	o.log.Warn("new version of the plugin failed to start, the old one stays in use", "reason", reason)
	if state, _ := o.s.State(); state == outcome.StateReady && o.current != nil {
		o.to(outcome.StateReady, "the previous version stays in use, the new one failed to start: "+reason)
	}
}

func (o *owner) lookOnceMore() {
	if !o.coming.lookAgain {
		return
	}
	o.coming.lookAgain = false
	o.s.host.Rescan()
}
