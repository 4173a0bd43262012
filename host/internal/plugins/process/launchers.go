package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// launchers start the processes that become isolated plugins. Starting the host's own program as a launcher takes
// longer than all that it does then, so one is kept ready. It ends with its socket, and so with the host.
type launchers struct {
	starter *starter
	groups  *isolate.Groups // what each launcher is started in; nil where there are no control groups

	mu     sync.Mutex
	last   isolate.Spec // what the last launcher became; the next program is most likely isolated in the same way
	spare  *launcher    // nil: none is ready
	closed bool
}

type launcher struct {
	*isolate.Launcher
	cmd   *exec.Cmd
	group *isolate.Group // nil for none
}

// end kills and reaps an unused launcher.
func (l *launcher) end() {
	l.Close()
	killGroup(l.cmd.Process)
	_ = l.cmd.Wait()
	_ = l.group.Remove()
}

// become uses the ready launcher if it fits, else another.
func (s *launchers) become(spec isolate.Spec, handles isolate.Handles) (*launcher, *os.File, error) {
	if l := s.take(spec); l != nil {
		guard, err := l.become(spec, handles)
		if !errors.Is(err, isolate.ErrGone) { // something had killed it while it waited
			return l, guard, err
		}
	}
	l, err := s.start(spec)
	if err != nil {
		return nil, nil, err
	}
	guard, err := l.become(spec, handles)
	return l, guard, err
}

// become leaves nothing of the launcher on failure.
func (l *launcher) become(spec isolate.Spec, handles isolate.Handles) (guard *os.File, err error) {
	if guard, err = l.Become(spec, handles, launcherTimeout); err != nil {
		l.end()
		return nil, err
	}
	l.Close()
	return guard, nil
}

// take returns the ready launcher; nil if it cannot become what spec says.
func (s *launchers) take(spec isolate.Spec) *launcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = spec
	l := s.spare
	if l == nil || !l.Fits(spec) {
		return nil
	}
	s.spare = nil
	return l
}

func (s *launchers) start(spec isolate.Spec) (*launcher, error) {
	group, _ := s.groups.New() // without, watchUse still looks at what it takes
	l, err := s.startIn(group, spec)
	if err != nil && group != nil { // the kernel, or a container's filter, may start nothing in a group
		l, err = s.startIn(nil, spec)
	}
	return l, err
}

// startIn starts a launcher in a control group; nil is the host's. On failure nothing of the group is left.
func (s *launchers) startIn(group *isolate.Group, spec isolate.Spec) (*launcher, error) {
	l, err := isolate.NewLauncher(spec, group)
	if err != nil {
		return nil, errors.Join(err, group.Remove())
	}
	cmd := &exec.Cmd{
		Path: l.Path, Args: l.Args, Env: []string{}, Dir: "/", ExtraFiles: l.Inherit,
		SysProcAttr: processAttributes(l.Attr),
	}
	if err := s.starter.start(cmd, group); err != nil {
		l.Close()
		_ = group.Remove()
		return nil, err
	}
	return &launcher{Launcher: l, cmd: cmd, group: group}, nil
}

// prepare starts the launcher of the next program in the background, if one was needed before.
func (s *launchers) prepare() {
	go func() {
		// The lock is held for the start: a program that needs one meanwhile waits for this launcher.
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed || s.spare != nil || s.last.Args == nil {
			return
		}
		s.spare, _ = s.start(s.last) // without, the next start takes longer, and says what is wrong
	}()
}

// close ends the ready launcher. No other will be.
func (s *launchers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.spare != nil {
		s.spare.end()
		s.spare = nil
	}
}
