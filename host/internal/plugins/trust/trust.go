package trust

import (
	"fmt"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/plugins/discover"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/internal/failure"
)

// Modes of the setting plugins.integrity. They are about files: what is built into the host is trusted as it is.
const (
	// TOFU (trust on first use), the default, records a plugin when it is first used, and refuses it when it has
	// changed since, until a person locks it again.
	TOFU = "tofu"
	// Locked refuses every plugin that is not in the lock file exactly as it is.
	Locked = "locked"
	// Off runs anything, with a warning at each start.
	Off = "off"
)

// Policy decides which files may run. It is safe for concurrent use; mu guards seen.
type Policy struct {
	mode  string
	guard *guard // nil: objects to nothing
	lock  lockFile
	log   hclog.Logger

	mu   sync.Mutex
	seen map[string]Entry // by lockKey: plugins used for the first time that could not be written to the lock file
}

// New returns a policy. path is the lock file's; "" for none: what a plugin was is then remembered only as long as the
// policy lives.
func New(mode, path string, log hclog.Logger) *Policy {
	p := &Policy{mode: mode, lock: lockFile{path: path}, log: log, seen: make(map[string]Entry)}
	if mode != Off {
		p.guard = newGuard()
		p.lock.guard = p.guard
	}
	return p
}

// Guard returns the guard for [discover.Scan]; nil if there are no checks.
func (p *Policy) Guard() discover.Guard {
	if p.guard == nil {
		return nil
	}
	return p.guard
}

// Verdict is what is known about a binary before it starts.
type Verdict struct {
	// Known is what the lock file says about the binary; empty if it says nothing.
	Known Snapshot
	// First is set if the binary was never seen at its place. Record it with [Policy.Remember] once it has started.
	First bool
}

// Judge decides whether a binary may run. Errors wrap [fault.ErrUntrusted].
func (p *Policy) Judge(b *discover.Binary) (Verdict, error) {
	if b.BuiltIn {
		return Verdict{}, nil
	}
	if p.mode == Off {
		p.log.Warn(
			"plugin is started without any check: plugins.integrity is off", "strategy", b.Name, "path", b.Path,
			"sha256", b.Sum,
		)
		return Verdict{}, nil
	}
	if problem := p.guard.opened(b.File()); problem != "" { // the file may have been replaced since the scan
		return Verdict{}, fmt.Errorf("%w: it %s", fault.ErrUntrusted, problem)
	}
	key := lockKey(b.Path)
	entry, ok, others, err := p.lookUp(key, b.Sum)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("%w: %w", fault.ErrUntrusted, err)
	case !ok && p.mode == Locked:
		return Verdict{}, fmt.Errorf("%w: it is not in the lock file %s", fault.ErrUntrusted, p.lock.path)
	case !ok:
		if len(others) > 0 {
			p.log.Warn("new plugin has the name of one that is locked elsewhere with other content",
				"strategy", b.Name, "path", b.Path, "sha256", b.Sum, "locked", others)
		}
		return Verdict{First: true}, nil
	case entry.SHA256 != b.Sum && entry.Was != b.Sum:
		return Verdict{}, fmt.Errorf("%w: %s", fault.ErrUntrusted, entry.changed())
	}
	// A file that was moved is trusted by its hash, and is recorded at its new place too.
	moved := lockKey(entry.Path) != key
	return Verdict{Known: Snapshot{Sum: entry.SHA256, Info: compact(entry.Info)}, First: moved && p.mode == TOFU}, nil
}

// lookUp returns what find does, for the lock file and plugins that could not be written there. The file is read each
// time, because other hosts and `thresh plugins lock` change it.
func (p *Policy) lookUp(key, sum string) (e Entry, ok bool, others []string, err error) {
	p.mu.Lock()
	e, ok, unwritten := find(p.seen, key, sum)
	p.mu.Unlock()
	if ok {
		return e, true, nil, nil
	}
	plugins, err := p.lock.read()
	e, ok, others = find(plugins, key, sum)
	return e, ok, append(others, unwritten...), err
}

// Remember records a plugin that is used for the first time. If the lock file cannot be written, the entry is kept in
// memory: the plugin works, but a change of its file is noticed only while this host runs.
func (p *Policy) Remember(e Entry) {
	if p.lock.path != "" {
		err := p.lock.change(func(plugins map[string]Entry) {
			if _, taken := plugins[lockKey(e.Path)]; !taken { // another host may have been quicker
				plugins[lockKey(e.Path)] = e
			}
		})
		if err == nil {
			p.log.Info("new plugin locked", "path", e.Path, "sha256", e.SHA256, "lockFile", p.lock.path)
			return
		}
		p.log.Warn(
			"new plugin cannot be written to the lock file: a change of its file is noticed only while this host runs",
			"path", e.Path, "lockFile", p.lock.path, "error", err,
		)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[lockKey(e.Path)] = e
}

// ErrNoLockFile: there is nowhere to record a plugin.
var ErrNoLockFile = failure.New(failure.Setting, "no lock file is configured: set plugins.lockFile")

func (p *Policy) CanLock() error {
	if p.lock.path == "" {
		return ErrNoLockFile
	}
	return nil
}

// Lock replaces the entries for the same files, and marks them as locked. It is a person's decision, so it also
// replaces entries that contradict.
func (p *Policy) Lock(entries []Entry) error {
	for i := range entries {
		entries[i].Locked = true
	}
	err := p.lock.change(func(plugins map[string]Entry) {
		for _, e := range entries {
			// The same file is from where it was.
			if was := plugins[lockKey(e.Path)]; e.Origin == nil && was.SHA256 == e.SHA256 {
				e.Origin = was.Origin
			}
			plugins[lockKey(e.Path)] = e
		}
	})
	if err != nil {
		return fmt.Errorf("writing the lock file %s: %w", p.lock.path, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		delete(p.seen, lockKey(e.Path))
	}
	return nil
}

// Entry returns what the lock file says about a plugin's file, by its path alone.
func (p *Policy) Entry(path string) (e Entry, ok bool, err error) {
	plugins, err := p.lock.read()
	e, ok = plugins[lockKey(path)]
	return e, ok, err
}

// Forget removes the entry of a file.
func (p *Policy) Forget(path string) error {
	err := p.lock.change(func(plugins map[string]Entry) { delete(plugins, lockKey(path)) })
	if err != nil {
		return fmt.Errorf("writing the lock file %s: %w", p.lock.path, err)
	}
	return nil
}
