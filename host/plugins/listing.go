package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/thresh-dev/thresh/sdk"
)

// State says what a listed file is good for.
type State string

// The states.
const (
	// StateReady: it was started and described itself, and can be used.
	StateReady State = "ready"
	// StateBroken: the file is no plugin, or could not be brought to ready; Reason says why.
	StateBroken State = "broken"
	// StateShadowed: a plugin with the same name in an earlier directory is used instead; Reason says which.
	StateShadowed State = "shadowed"
	// StateNoDirectory: Path is no file but a plugin directory that cannot be searched; Reason says why.
	StateNoDirectory State = "no-directory"
)

// Listing is one file that was found, or one directory in which nothing could be.
type Listing struct {
	Name string `json:"name"`
	// Path is absolute.
	Path        string `json:"path"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Trigger is empty if the plugin could not be asked.
	Trigger          sdk.TriggerMode `json:"trigger,omitempty"`
	DefaultThreshold float64         `json:"defaultThreshold,omitempty"`
	RequiresLLM      bool            `json:"requiresLLM"`
	// SHA256 of the file, in hexadecimal; empty if it cannot be read.
	SHA256 string `json:"sha256,omitempty"`
	State  State  `json:"state"`
	// Reason is a sentence for any state but ready.
	Reason string `json:"reason,omitempty"`
	// Stderr is the end of what a broken plugin wrote to its standard error.
	Stderr string `json:"stderr,omitempty"`
}

// startsAtOnce bounds how many plugins List starts at the same time.
const startsAtOnce = 16

// List describes everything that is in the plugin directories, in the order of the directories and by name within each.
// Plugins that do not run are started to be asked, many at a time, and ended again unless somebody uses them meanwhile.
// What is wrong with one is in its listing and hurts no other; when ctx ends, those not yet asked are broken for that reason.
func (m *Manager) List(ctx context.Context) []Listing {
	found := discover(m.opts.Dirs)
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
func (m *Manager) Directories() []Directory { return discover(m.opts.Dirs).dirs }

func (m *Manager) list(ctx context.Context, c candidate) Listing {
	l := Listing{Name: printable(c.name, 100), Path: c.path, SHA256: hashFile(c.path)}
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
		l.Version, l.Description = p.info.Version, p.info.Description
		l.Trigger, l.DefaultThreshold = p.info.Trigger.Mode, p.info.Trigger.DefaultThreshold
		l.RequiresLLM = p.info.RequiresLLM
	}
	l.State = StateReady
	if err != nil {
		l.State, l.Reason = StateBroken, err.Error()
		var failure *Error
		if errors.As(err, &failure) {
			l.Reason, l.Stderr = failure.Sentence(), failure.Stderr
		}
	}
	return l
}

// ask starts a strategy if it does not run, and ends it again if nobody uses it. The process is only good for its info.
func (m *Manager) ask(ctx context.Context, name string) (*process, error) {
	s := m.handle(name)
	in, err := s.incarnation()
	if err != nil {
		return nil, err
	}
	select {
	case <-in.ready:
	case <-ctx.Done():
		m.goes(func() { s.release(in) })
		return nil, ctx.Err()
	}
	s.release(in)
	return in.process, in.err
}

// hashFile returns the file's SHA-256, "" if it is no regular file that can be read.
func hashFile(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
