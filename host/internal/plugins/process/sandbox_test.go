package process

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
)

// A grant can take away what a measure rests on. What is missing then depends on the kernel, and is listed.
func TestWhatAGrantTakesAway(t *testing.T) {
	const (
		sockets = "sockets: with a grant for the network, it takes namespaces"
		network = "signals: with a grant for the network, it takes Linux 6.12"
		starts  = "signals: with a grant for processes, it takes Linux 6.12 or namespaces"
		paths   = "paths: none here"
	)
	landlock := "landlock, version 6"
	for name, test := range map[string]struct {
		signals    string // how they are kept from a plugin
		namespaces bool
		grant      config.Grant
		lacking    []string
	}{
		"nothing":                              {landlock, true, config.Grant{Network: true, Processes: true}, nil},
		"nothing, without a grant":             {isolate.SignalsByFilter, true, config.Grant{}, nil},
		"nothing, in a process namespace":      {isolate.SignalsByFilter, true, config.Grant{Processes: true}, nil},
		"abstract sockets":                     {isolate.SignalsByFilter, true, config.Grant{Network: true}, []string{network}},
		"both":                                 {isolate.SignalsByFilter, true, config.Grant{Network: true, Processes: true}, []string{network}},
		"no namespaces":                        {isolate.SignalsByFilter, false, config.Grant{}, []string{paths}},
		"no namespaces, processes":             {isolate.SignalsByFilter, false, config.Grant{Processes: true}, []string{paths, starts}},
		"no namespaces, the network":           {isolate.SignalsByFilter, false, config.Grant{Network: true}, []string{paths, sockets, network}},
		"no namespaces, landlock, processes":   {landlock, false, config.Grant{Processes: true}, []string{paths}},
		"no namespaces, landlock, the network": {landlock, false, config.Grant{Network: true}, []string{paths, sockets}},
	} {
		t.Run(name, func(t *testing.T) {
			checks := func() []isolate.Check {
				return []isolate.Check{{Measure: isolate.Paths, Works: test.namespaces, How: "none here"},
					{Measure: isolate.Sockets, Works: true}, {Measure: isolate.Signals, Works: true, How: test.signals}}
			}
			set := config.Plugins{Isolation: IsolationStrict, Grants: map[string]config.Grant{"x": test.grant}}
			s, err := NewSandbox(set, "x", checks)
			if diff := cmp.Diff(test.lacking, s.Lacking); diff != "" {
				t.Error(diff)
			}
			if errors.Is(err, fault.ErrNotIsolated) != (len(test.lacking) > 0) || len(s.Apply)+len(s.Lacking) != 3 {
				t.Errorf("strict: %v, with %v", err, s.Apply)
			}
		})
	}
}
