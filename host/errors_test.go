package host

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/plugins"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/transcriptlog"
	"github.com/thresh-dev/thresh/host/internal/window"
)

func TestTheKindOfAnError(t *testing.T) {
	for want, cause := range map[api.Kind]error{
		api.KindOverflow: &prepare.ContextOverflowError{Tokens: 10, Limit: 7, Strategy: "s"},
		api.KindAnswer:   &history.AnswerError{Err: history.ErrConflict},
		api.KindSetting:  &config.Error{Problem: "unknown setting"},
		api.KindEntry:    window.ErrInvalidEntry,
		api.KindStrategy: plugins.ErrUnknownStrategy,
		api.KindSession:  journal.ErrClosed,
		api.KindCanceled: context.Canceled,
		api.KindDeadline: context.DeadlineExceeded,
		api.KindPlugin:   &plugins.Error{Plugin: "s", Err: plugins.ErrTimeout, Retryable: true},
		api.KindHost: &plugins.Error{Plugin: "s", Err: fmt.Errorf("%w: no space left", plugins.ErrHost),
			Retryable: true},
		api.KindModel: &prepare.CompressError{Strategy: "s", Model: errors.New("overloaded"), Err: errors.New("x"),
			Retryable: true},
		api.KindInternal: errors.New("x"),
	} {
		err := fmt.Errorf("x: %w", cause)
		got := ErrorOf(err)
		if got.Kind != want || !errors.Is(got, cause) || got.Error() != err.Error() {
			t.Errorf("%s: %+v", want, got)
			continue
		}
		if retryable := want == api.KindPlugin || want == api.KindModel || want == api.KindHost; got.Retryable != (retryable ||
			want == api.KindDeadline) || retryable && got.Plugin != "s" {
			t.Errorf("%s: retryable %v, plugin %q", want, got.Retryable, got.Plugin)
		}
		if want == api.KindOverflow && (got.MissingTokens != 3 || got.Plugin != "s") {
			t.Errorf("%s: %+v", want, got)
		}
	}
	if ErrorOf(nil) != nil {
		t.Error("nil became an error")
	}
}

// A full disk is the machine's, also where the transcript is written.
func TestATranscriptThatCannotBeWritten(t *testing.T) {
	for _, cause := range []error{
		&transcriptlog.UnwrittenError{Path: "x", Entries: 2, Err: syscall.ENOSPC},
		fmt.Errorf("%w: %w", transcriptlog.ErrDir, syscall.ENOSPC),
	} {
		if got := ErrorOf(cause); got.Kind != api.KindHost || !got.Retryable {
			t.Errorf("%+v", got)
		}
	}
}

// A write of unknown outcome is retryable only if the same call does it once.
func TestAnErrorOfUnknownOutcome(t *testing.T) {
	fault := &store.Fault{Cause: store.Gone, Unknown: true, Err: errors.New("x")}
	for _, repeatable := range []bool{true, false} {
		got := ErrorOf(&journal.UnknownError{Repeatable: repeatable, Err: fault})
		if got.Kind != api.KindStore || !got.MaybeApplied || got.Retryable != repeatable {
			t.Errorf("%+v", got)
		}
	}
}
