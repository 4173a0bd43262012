package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/thresh-dev/thresh/internal/failure"
	"github.com/thresh-dev/thresh/internal/text"
)

// Kind is what went wrong, as [errors.Is] finds it, and what follows from it.
type Kind struct {
	phrase string
	// reason is the word for it in metrics.
	reason string
	about  failure.Kind
	// spared: the plugin's process did nothing wrong, so it is no crash.
	spared bool
}

func (k *Kind) Error() string { return k.phrase }

func (k *Kind) Describe() failure.Description { return failure.Description{Kind: k.about} }

func kind(phrase, reason string) error { return &Kind{phrase, reason, failure.Plugin, false} }

func spared(phrase, reason string, about failure.Kind) error {
	return &Kind{phrase, reason, about, true}
}

// What can go wrong. All but [ErrUnknownStrategy] and [ErrClosed] arrive inside an [*Error]. Of an error around several
// of them, the first counts.
var (
	// No usable plugin has that name. The message lists what was found and where.
	ErrUnknownStrategy = spared("unknown strategy", other, failure.Strategy)
	ErrClosed          = spared("plugin manager closed", other, failure.Session)
	// The file could not be run, or did not behave as a strategy plugin.
	ErrNotPlugin = kind("not a working strategy plugin", "not-plugin")
	// The plugin speaks another version of the protocol.
	ErrIncompatible = kind("incompatible protocol version", "incompatible")
	ErrBadInfo      = kind("bad GetInfo answer", "bad-info")
	// A setting under strategies.<name> is wrong.
	ErrBadConfig = spared("bad strategy settings", "bad-config", failure.Setting)
	// The process ended during the call. The next call starts a new one.
	ErrPluginCrashed = kind("plugin process crashed", "crashed")
	// No answer within the timeout in the settings. context.DeadlineExceeded is the caller's own deadline.
	ErrTimeout = kind("deadline exceeded", "timeout")
	// The answer cannot be decoded, belongs to another revision, or exceeds a limit.
	ErrBadAnswer = kind("bad answer", "bad-answer")
	// The same binary reports something else about itself than before.
	ErrInfoChanged = kind("GetInfo answer changed", "info-changed")
	// The plugin crashed too often. It is not started again until its file changes or it is reset.
	ErrQuarantined = kind("plugin quarantined", "quarantined")
	// The file or its directory fails the trust checks (setting plugins.integrity).
	ErrUntrusted = spared("not trusted", "untrusted", failure.Plugin)
	// The plugin needs something that it was not granted (setting plugins.grants).
	ErrNotGranted = spared("not granted", "not-granted", failure.Plugin)
	// plugins.isolation is strict, and this machine cannot enforce every measure.
	ErrNotIsolated = spared("cannot be isolated", "not-isolated", failure.Plugin)
	// The host's environment lacks what a start needs: descriptors, space, memory, processes, the run directory. The
	// plugin is not at fault, this is no crash, and the next call tries again.
	ErrHost = spared("host environment fault", "host", failure.Host)
	// The strategy itself returned an error or panicked. The host tries no other strategy: the error belongs to the
	// agent.
	ErrStrategy = kind("strategy failed", "strategy")
	// Optimize was asked of a strategy that is not continuous.
	ErrNotContinuous = kind("strategy has no Optimize", other)
)

// other is the reason of all that happens too seldom to be counted by itself.
const other = "other"

type Op string

// In the order in which a process goes through them.
const (
	OpStart     Op = "start"
	OpGetInfo   Op = "GetInfo"
	OpConfigure Op = "configure"
	OpOptimize  Op = "optimize"
	OpCompress  Op = "compress"
)

// Error says what failed, on which plugin, and what to do about it.
type Error struct {
	// Plugin is the strategy's name, Path the absolute path of its binary.
	Plugin, Path string
	Op           Op
	// Err wraps one of this package's sentinels, or the caller's context error.
	Err error
	// Hint says what to do; "" if there is nothing to say.
	Hint string
	// Stderr is the end of the process's standard error, at most 8 KiB, if the process itself is suspect.
	Stderr string
	// Retryable says that the same call may succeed when repeated.
	Retryable bool
	// Blameless failures do not count as crashes: the host refused to start the plugin, or could not.
	Blameless bool
}

// New describes a failure. Where err says that the machine lacks something, it is an [ErrHost]: the plugin is not to
// blame, and the same call may succeed later.
func New(plugin, path string, op Op, err error, hint string) *Error {
	e := &Error{Plugin: plugin, Path: path, Op: op, Err: err, Hint: hint}
	if what := shortage(err); what != "" || errors.Is(err, ErrHost) {
		if !errors.Is(err, ErrHost) {
			e.Err = fmt.Errorf("%w: %w", ErrHost, err)
		}
		e.Retryable = true
		e.Hint = "the plugin is not at fault, and the next call tries again"
		if what != "" {
			e.Hint = what + "; " + e.Hint
		}
	}
	k, known := errors.AsType[*Kind](e.Err)
	e.Blameless = known && k.spared
	return e
}

// Describe is of the first kind that the error is around, or of the caller's context.
func (e *Error) Describe() failure.Description {
	d := failure.Ended(e.Err, failure.Plugin)
	d.Call, d.Reason = "start", other
	if e.Op == OpOptimize || e.Op == OpCompress {
		d.Call = string(e.Op)
	}
	if k, ok := errors.AsType[*Kind](e.Err); ok {
		d.Kind, d.Retryable, d.Reason = k.about, false, k.reason
	}
	if d.Kind != failure.Canceled && d.Kind != failure.Deadline {
		d.Plugin, d.Retryable = e.Plugin, e.Retryable
	}
	return d
}

func (e *Error) Error() string {
	return e.Sentence() + Excerpt(e.Stderr)
}

// maxSentence is in bytes.
const maxSentence = 16 << 10

// Sentence is the error in one line, without the plugin's standard error. It is safe for a terminal.
func (e *Error) Sentence() string {
	return e.sentence(fmt.Sprintf("strategy %q: %s: %v (%s)", e.Plugin, e.Op, e.Err, e.Path))
}

// Reason is [Error.Sentence] without the plugin and its path, for where both stand beside it.
func (e *Error) Reason() string { return e.sentence(fmt.Sprintf("%s: %v", e.Op, e.Err)) }

func (e *Error) sentence(what string) string {
	if e.Hint != "" {
		what += "; " + e.Hint
	}
	return text.Printable(what, maxSentence)
}

func (e *Error) Unwrap() error { return e.Err }

// Sentence is [Error.Sentence] where err holds an [*Error], else err's own text.
func Sentence(err error) string {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Sentence()
	}
	return err.Error()
}

// Cause returns what an [*Error] wraps, for use inside another [*Error]: otherwise the text would name the plugin
// twice.
func Cause(err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Err
	}
	return err
}

// System returns the operating system's error without the operation and the path, for texts that name both already.
func System(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

const (
	excerptLines = 12
	// excerptWidth is in bytes.
	excerptWidth = 500
)

// Excerpt returns the lines of a plugin's standard error that explain why it died, safe for a terminal: from a Go panic
// on if there was one, else the last ones; "" if there are none.
func Excerpt(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	from := max(0, len(lines)-excerptLines)
	for i, line := range lines {
		if IsPanic(line) {
			from = i
			break
		}
	}
	lines = lines[from:min(len(lines), from+excerptLines)]
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	shown := text.Lines(strings.Join(lines, "\n"), excerptWidth)
	return "\nlast lines of its standard error:\n  " + strings.ReplaceAll(shown, "\n", "\n  ")
}

// IsPanic reports whether a line of standard error begins the output of a dying Go program.
func IsPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}
