package plugins

import (
	"errors"
	"fmt"
	"strings"
)

// What can go wrong, for errors.Is. They arrive inside an [*Error], except for [ErrUnknownStrategy] and [ErrClosed], which
// concern no plugin.
var (
	// ErrUnknownStrategy: no usable plugin has that name. The message says what was found and where.
	ErrUnknownStrategy = errors.New("unknown strategy")
	// ErrClosed: the manager was closed.
	ErrClosed = errors.New("the plugin manager is closed")
	// ErrNotPlugin: the file ran, or could not be run, but did not behave as a strategy plugin.
	ErrNotPlugin = errors.New("not a working strategy plugin")
	// ErrIncompatible: the plugin speaks another version of the protocol.
	ErrIncompatible = errors.New("incompatible protocol version")
	// ErrBadInfo: what the plugin says about itself is not acceptable.
	ErrBadInfo = errors.New("bad GetInfo answer")
	// ErrBadConfig: a setting under strategies.<name> is wrong.
	ErrBadConfig = errors.New("bad strategy settings")
	// ErrPluginCrashed: the process ended during the call. The next call starts a new one.
	ErrPluginCrashed = errors.New("the plugin's process ended")
	// ErrTimeout: no answer within the time that [Options] gives. It is not context.DeadlineExceeded, which stands for a
	// deadline of the caller's own.
	ErrTimeout = errors.New("timed out")
	// ErrBadAnswer: the answer cannot be decoded, belongs to another revision, or exceeds a bound.
	ErrBadAnswer = errors.New("bad answer")
	// ErrInfoChanged: the binary is the one that it was, but says something else about itself than before.
	ErrInfoChanged = errors.New("its GetInfo answer has changed")
	// ErrQuarantined: the plugin crashed too often. It is not started again until its file changes or [Manager.Reset].
	ErrQuarantined = errors.New("the plugin is quarantined")
	// ErrUntrusted: the file, or its directory, is not what may be run; see [Integrity].
	ErrUntrusted = errors.New("not trusted")
	// ErrNotGranted: the plugin says that it needs something that it was not granted.
	ErrNotGranted = errors.New("not granted")
	// ErrNotIsolated: [IsolationStrict] is asked for, and this machine cannot enforce all of it.
	ErrNotIsolated = errors.New("it cannot be isolated")
	// ErrStrategy: the strategy itself returned an error (a panic in it included). No other strategy is tried (REQ-HD-013.4).
	ErrStrategy = errors.New("the strategy failed")
	// ErrNotContinuous: Optimize was asked of a strategy whose trigger is not continuous (REQ-HD-002).
	ErrNotContinuous = errors.New("the strategy has no Optimize")
)

// Op names what was being done with a plugin when it failed.
type Op string

// The operations, in the order in which a process goes through them.
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
	// Hint is what to do, "" where there is nothing to say.
	Hint string
	// Stderr is the end of what the process wrote to its standard error, at most 8 KiB; set when the process is suspect.
	Stderr string
	// Retryable says that the same call may succeed if it is made again.
	Retryable bool

	// ours says that the plugin is not to blame.
	ours bool
}

// Error is [Error.Sentence], followed by the end of the plugin's standard error where there is one.
func (e *Error) Error() string {
	excerpt := stderrExcerpt(e.Stderr)
	if excerpt == "" {
		return e.Sentence()
	}
	return e.Sentence() + "\nits standard error ends with:\n" + excerpt
}

// Sentence is the error in one line, without the plugin's standard error.
func (e *Error) Sentence() string {
	s := fmt.Sprintf("strategy %q: %s: %v (%s)", e.Plugin, e.Op, e.Err, e.Path)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// MayRetry is Retryable, for callers that do not know this package.
func (e *Error) MayRetry() bool { return e.Retryable }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// excerptLines is how much of a plugin's standard error is shown in an error's text.
const excerptLines = 12

// stderrExcerpt picks the lines that explain a death: from the panic on if there was one, else the last ones.
func stderrExcerpt(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	from := max(0, len(lines)-excerptLines)
	for i, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			from = i
			break
		}
	}
	lines = lines[from:min(len(lines), from+excerptLines)]
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return "  " + strings.Join(lines, "\n  ")
}
