package process

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// Modes of the setting plugins.isolation.
const (
	// IsolationBestEffort, the default, takes the measures that this machine can enforce, and lists the missing ones.
	IsolationBestEffort = "best-effort"
	// IsolationStrict starts no plugin where a measure is missing.
	IsolationStrict = "strict"
	IsolationOff    = "off"
)

// Sandbox is how a process is isolated. The zero value isolates nothing. It is immutable.
type Sandbox struct {
	Apply []isolate.Measure
	// Grant is what the user allows the plugin in addition.
	Grant config.Grant
	// MaxMemory bounds the private memory, in bytes; 0 is no limit.
	MaxMemory int
	// Lacking are the measures that are not taken, each with the reason, for people.
	Lacking []string
}

// launcherTimeout bounds the few system calls in which a launcher becomes the plugin.
const launcherTimeout = 5 * time.Second

// NewSandbox decides how the named plugin is isolated. checks reports what this machine can enforce; it is called only
// if needed, because the first call runs a process. The error wraps [fault.ErrNotIsolated] and lists all missing
// measures.
func NewSandbox(set config.Plugins, name string, checks func() []isolate.Check) (Sandbox, error) {
	if set.Isolation == IsolationOff {
		return Sandbox{Lacking: []string{"everything: plugins.isolation is off"}}, nil
	}
	s := Sandbox{Grant: set.Grants[name], MaxMemory: set.MaxMemoryBytes}
	all := checks()
	supervised := slices.ContainsFunc(all, func(c isolate.Check) bool { return c.Measure == isolate.Paths && !c.Works })
	for _, check := range all {
		filtered := check.How == isolate.SignalsByFilter
		switch {
		case s.Grant.Network && check.Measure == isolate.Sockets && supervised: // the host makes no network sockets
			check.Works, check.How = false, "with a grant for the network, it takes namespaces"
		case s.Grant.Network && filtered: // it sees the host's abstract sockets
			check.Works, check.How = false, "with a grant for the network, it takes Linux 6.12"
		case s.Grant.Processes && filtered && supervised: // a filter cannot tell what it starts from others
			check.Works, check.How = false, "with a grant for processes, it takes Linux 6.12 or namespaces"
		}
		if check.Works {
			s.Apply = append(s.Apply, check.Measure)
			continue
		}
		s.Lacking = append(s.Lacking, fmt.Sprintf("%s: %s", check.Measure, check.How))
	}
	if set.Isolation == IsolationStrict && len(s.Lacking) > 0 {
		return s, fmt.Errorf("%w: %s", fault.ErrNotIsolated, strings.Join(s.Lacking, "; "))
	}
	return s, nil
}

// env returns variables that keep a plugin below its memory limit. Only Go programs know GOMEMLIMIT; at 90 % the
// garbage collector works harder before an allocation fails.
func (s Sandbox) env() []string {
	if s.MaxMemory == 0 {
		return nil
	}
	return []string{"GOMEMLIMIT=" + strconv.Itoa(s.MaxMemory/10*9)}
}
