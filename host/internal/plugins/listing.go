package plugins

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// Listing is one file that was found, or one directory in which nothing could be.
type Listing struct {
	Name string `json:"name"`
	// Path is absolute.
	Path        string `json:"path"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Trigger is empty if the plugin could not be asked.
	Trigger          contract.TriggerMode `json:"trigger,omitempty"`
	DefaultThreshold float64              `json:"defaultThreshold,omitempty"`
	RequiresLLM      bool                 `json:"requiresLLM"`
	// SHA256 of the file, in hexadecimal; empty if it cannot be read.
	SHA256 string `json:"sha256,omitempty"`
	State  State  `json:"state"`
	// Reason is a sentence for any state but ready; for ready, it says why a newer version of the file is not used.
	Reason string `json:"reason,omitempty"`
	// Lacking are the measures of isolation that its process does without, with the reason.
	Lacking []string `json:"lacking,omitempty"`
	// Stderr is the end of what a broken plugin wrote to its standard error.
	Stderr string `json:"stderr,omitempty"`
}

// startsAtOnce bounds how many plugins List starts at the same time.
const startsAtOnce = 16

// List describes everything that is in the plugin directories, in the order of the directories and by name within each.
// Plugins that do not run are started to be asked, many at a time, and ended again unless somebody uses them meanwhile.
// What is wrong with one is in its listing and hurts no other; when ctx ends, those not yet asked are broken for that reason.
func (m *Manager) List(ctx context.Context) []Listing {
	found := m.discover()
	var list []Listing
	for _, d := range found.dirs {
		if d.Problem != "" {
			list = append(list, Listing{Path: d.Path, State: StateNoDirectory, Reason: d.Problem})
		}
	}
	offset := len(list)
	list = append(list, make([]Listing, len(found.candidates))...)
	var group errgroup.Group
	group.SetLimit(startsAtOnce)
	for i, c := range found.candidates {
		group.Go(func() error {
			list[offset+i] = m.list(ctx, c)
			return nil
		})
	}
	_ = group.Wait() // none of them returns an error
	return list
}

// Directories says what is in each plugin directory, without starting anything.
func (m *Manager) Directories() []Directory { return m.discover().dirs }

func (m *Manager) list(ctx context.Context, c candidate) Listing {
	l := Listing{Name: printable(c.name, 100), Path: c.path, SHA256: hashFile(c.path, &m.hashes)}
	switch {
	case c.problem != "":
		l.State, l.Reason = StateBroken, c.problem
		return l
	case c.shadowedBy != "":
		l.State, l.Reason = StateShadowed, "hidden by "+c.shadowedBy
		return l
	}
	p, err := m.ask(ctx, c.name)
	if p != nil {
		l.describe(p.info)
		l.Lacking = p.lacking
	}
	if err == nil {
		l.State = StateReady
		if state, reason := m.handle(c.name).State(); state == StateReady {
			l.Reason = reason
		}
		return l
	}
	l.State, l.Reason = StateBroken, err.Error()
	var failure *Error
	if errors.As(err, &failure) {
		l.Reason, l.Stderr = failure.Sentence(), failure.Stderr
	}
	if state, _ := m.handle(c.name).State(); state == StateQuarantined || state == StateCrashed {
		l.State = state
		l.describe(m.handle(c.name).Info())
	}
	return l
}

func (l *Listing) describe(info contract.Info) {
	l.Version, l.Description = info.Version, info.Description
	l.Trigger, l.DefaultThreshold = info.Trigger.Mode, info.Trigger.DefaultThreshold
	l.RequiresLLM = info.RequiresLLM
}

// ask starts a strategy if it does not run, and ends it again if nobody uses it. The process is only good for its info.
func (m *Manager) ask(ctx context.Context, name string) (*process, error) {
	s := m.handle(name)
	p, err := s.acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			s.do(func(o *owner) { o.dropUnlessKept() })
		}
		return p, err
	}
	p.release()
	ends := make(chan bool, 1)
	if s.do(func(o *owner) { ends <- o.dropUnlessKept() }) && <-ends {
		<-p.gone
	}
	return p, nil
}

// hashFile returns the file's SHA-256, "" if it is no regular file that can be read.
func hashFile(path string, h *hashes) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	b, err := openBinary(candidate{path: path}, h, nil)
	if err != nil {
		return ""
	}
	defer b.close()
	return b.sum
}
