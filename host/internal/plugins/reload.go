package plugins

import (
	"errors"
	"fmt"
)

var (
	errReplaced = errors.New("it was replaced by a new version")
	errRemoved  = errors.New("there is no usable file for it any more")
	// errSame says that a file is the one that runs already.
	errSame = errors.New("the same file")
)

// look compares the file that a strategy has now with the one that runs. There is none if there is no usable file.
func (o *owner) look(c candidate, there bool) {
	switch {
	case o.closing:
	case o.starting || o.replacing:
		o.lookAgain = true // when that is done
	case o.current == nil:
		if there && o.binary != nil && (c.path != o.binary.path || o.binary.differs()) {
			o.forgive("the file has changed")
		}
	case !there:
		p := o.current
		o.current = nil
		o.to(StateDraining, errRemoved.Error())
		p.retire(errRemoved)
	case c.path != o.current.path || o.current.binary.differs():
		o.replace()
	}
}

// replace starts what the file is now, beside the process that goes on taking the calls meanwhile.
func (o *owner) replace() {
	o.replacing = true
	o.active++
	sum := o.current.binary.sum
	go func() {
		p, err := o.m.start(o.s.name, start{unless: sum, reached: func(state State, _ *binary) {
			o.log.Debug("the new version's state changed", "to", state)
		}})
		o.s.commands <- func(o *owner) { o.replaced(p, err) }
	}()
}

// replaced takes the result of replace: sessions move to the new process with their next call.
func (o *owner) replaced(p *process, err error) {
	o.replacing = false
	defer o.lookOnceMore()
	if err != nil {
		o.active--
		o.notReplaced(err)
		o.askAgain() // the old one crashed meanwhile, if somebody waits
		return
	}
	o.binary = p.binary
	o.describe(p)
	o.crashes.forget()
	o.install(p)
}

// notReplaced says why the new version is not used. The old one goes on, if it still runs.
func (o *owner) notReplaced(err error) {
	if errors.Is(err, errSame) || o.closing {
		return
	}
	var known *Error
	text := err.Error()
	if errors.As(err, &known) {
		text = known.Sentence()
	}
	o.log.Warn("a new version of the plugin is not used, the old one goes on", "reason", text)
	if state, _ := o.s.State(); state == StateReady && o.current != nil {
		o.to(StateReady, fmt.Sprintf("runs the version before the one that is there now, which is not used: %s", text))
	}
}

// lookOnceMore looks at the file again if it changed while a process was starting.
func (o *owner) lookOnceMore() {
	if !o.lookAgain {
		return
	}
	o.lookAgain = false
	o.m.goes(o.m.rescan)
}

// retire has a process end when the calls that are under way are done. Nobody may acquire it any more.
func (p *process) retire(why error) {
	p.retired.Store(&why)
	if p.users.Load() == 0 {
		p.end(why)
	}
}

// release is for whoever acquired it.
func (p *process) release() {
	if p.users.Add(-1) > 0 {
		return
	}
	if why := p.retired.Load(); why != nil {
		p.end(*why)
	}
}
