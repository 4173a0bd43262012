package plugins

import (
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/plugins/isolate"
	"github.com/thresh-dev/thresh/host/internal/plugins/process"
)

// without says, for people, what a plugin can do without a measure of isolation. A new measure needs a row.
var without = map[isolate.Measure]string{
	isolate.Privileges: "gain rights from setuid programs",
	isolate.Files:      "read and change your files: keys, passwords and all else in your home directory",
	isolate.Network:    "send conversations over the network",
	isolate.Processes:  "start other programs",
	isolate.Signals:    "end other processes of yours and use abstract sockets",
	isolate.Memory:     "take all memory of this machine",
	isolate.Limits:     "open many files and write huge ones",
	isolate.Disk:       "fill the disk",
	isolate.Threads:    "start any number of threads",

	isolate.Calls:       "change modes, owners and limits of what is yours",
	isolate.Sockets:     "reach the sockets of other programs",
	isolate.Paths:       "see which files there are",
	isolate.Ending:      "outlive the host",
	isolate.Descriptors: "use files and connections that were open where the host was started",
}

// possible takes a list like [process.Sandbox.Lacking], whose items begin with the measure's name and a colon.
func possible(lacking []string) []string {
	var can []string
	for _, l := range lacking {
		measure, _, _ := strings.Cut(l, ":")
		switch what, known := without[isolate.Measure(measure)]; {
		case known:
			can = append(can, what)
		default:
			can = append(can, "do what the measure "+measure+" would keep it from")
		}
	}
	return slices.Compact(can)
}

// warnOfMissing logs which measures of isolation a process starts without: with best effort nothing else stops it, so a
// kernel without Landlock must not go unnoticed. Whoever switched isolation off knows. hidden says that the host's
// environment is.
func (m *Manager) warnOfMissing(name string, sandbox process.Sandbox, hidden bool) {
	if len(sandbox.Lacking) == 0 || m.opts.Isolation == process.IsolationOff {
		return
	}
	could := possible(sandbox.Lacking)
	if !hidden {
		could = append(could, "read the environment of this process, and the keys in it")
	}
	m.log.Warn("plugin starts without all isolation", "strategy", name,
		"missing", strings.Join(byReason(sandbox.Lacking), "; "),
		"itCould", strings.Join(could, "; "),
		"hint", "plugins.isolation=strict refuses to start it")
}

// hideHost keeps a plugin from the host's environment and memory, which hold the keys of model providers, and reports
// whether it could. Without Landlock and without its own user namespace, the kernel lets it read those of any process of
// its user. With namespaces the host must stay as it is: it could not set the plugin's user.
func (m *Manager) hideHost(sandbox process.Sandbox) bool {
	return m.opts.Isolation != process.IsolationOff && (slices.Contains(sandbox.Apply, isolate.Files) || slices.Contains(sandbox.Apply, isolate.Paths) ||
		isolate.HideSelf() == nil)
}

// byReason groups the missing measures: often all have the same reason.
func byReason(lacking []string) []string {
	var out []string
	at := map[string]int{}
	for _, l := range lacking {
		measure, reason, _ := strings.Cut(l, ": ")
		i, known := at[reason]
		if !known {
			at[reason] = len(out)
			out = append(out, l)
			continue
		}
		out[i] = strings.TrimSuffix(out[i], ": "+reason) + ", " + measure + ": " + reason
	}
	return out
}

// Lacking returns, by name, how many measures of isolation the running or last process of each strategy does without.
// Strategies that never ran are not in it.
func (m *Manager) Lacking() map[string]int {
	lacking := make(map[string]int)
	for _, s := range m.all() {
		if s.Info().Name != "" {
			lacking[s.Name()] = len(s.Lacking())
		}
	}
	return lacking
}
