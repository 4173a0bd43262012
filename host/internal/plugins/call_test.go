package plugins

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/plugins/client"
	"github.com/thresh-dev/thresh/host/internal/plugins/fault"
	"github.com/thresh-dev/thresh/host/internal/plugins/plugintest"
	"github.com/thresh-dev/thresh/host/internal/prepare"
	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

func TestOptimizeReturnsTheEdits(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}}), "steady")
	got, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	want := prepare.OptimizeAnswer{
		Edits:    []rewrite.Edit{{Index: 0, Remove: true}},
		Metadata: sdk.DensityMetadata{ReadWritePairsPruned: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompressReturnsThePieces(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}}), "steady")
	got, err := s.Compress(t.Context(), prepare.CompressCall{
		Call: call("a", "b", "c", "d"), CompressParams: sdk.CompressParams{Threshold: 0.5},
	}, services{})
	if err != nil {
		t.Fatal(err)
	}
	two := 2
	want := prepare.CompressAnswer{
		Pieces:   []rewrite.Piece{rewrite.Keep{From: 2, To: 4}},
		Metadata: sdk.CompressMetadata{MiddleCompressed: &two},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnEntryLargerThanAnyMessageLimitIsSent(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "steady")}}}), "steady")
	if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call(strings.Repeat("x", 10<<20))}); err != nil {
		t.Fatal(err)
	}
}

// Edits that are wrong in themselves are decoded and passed on: whether they fit the history is for package history
// to say.
func TestOptimizeDoesNotJudgeEdits(t *testing.T) {
	t.Parallel()
	tests := map[string][]rewrite.Edit{
		"out-of-bounds": {{Index: 2, Remove: true}},
		"twice":         {{Index: 0, Remove: true}, {Index: 0, Remove: true}},
		"in-both-sets": {
			{Index: 0, Remove: true},
			{Index: 0, Blocks: []rewrite.BlockPiece{{Block: content.Text{Text: "both"}}}},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}}), name)
			got, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Edits); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallsThatFail(t *testing.T) {
	t.Parallel()
	optimize := func(ctx context.Context, s *Strategy) error {
		_, err := s.Optimize(ctx, prepare.OptimizeCall{Call: call("a", "b")})
		return err
	}
	compress := func(ctx context.Context, s *Strategy) error {
		_, err := s.Compress(ctx, prepare.CompressCall{Call: call("a", "b")}, services{})
		return err
	}
	tests := map[string]struct {
		call      func(context.Context, *Strategy) error
		want      error
		says      string
		retryable bool
	}{
		"threshold-only":          {call: optimize, want: fault.ErrNotContinuous},
		"fails-in-optimize":       {call: optimize, want: ErrStrategy, says: "the moon is in the wrong phase"},
		"fails-in-compress":       {call: compress, want: ErrStrategy, says: "the moon is in the wrong phase"},
		"unavailable-in-optimize": {call: optimize, want: ErrStrategy, says: "come back tomorrow", retryable: true},
		"exits-in-optimize":       {call: optimize, want: ErrPluginCrashed, says: "out of paper", retryable: true},
		"exits-in-compress":       {call: compress, want: ErrPluginCrashed, says: "exit status 5", retryable: true},
		"panics-in-optimize": {call: optimize, want: ErrPluginCrashed, says: "panic: no idea what to do",
			retryable: true},
		"panics-in-compress": {call: compress, want: ErrPluginCrashed, says: "panic: no idea what to do",
			retryable: true},
		"hangs-up-in-optimize": {call: optimize, want: ErrPluginCrashed, says: "its connection broke",
			retryable: true},
		"hangs-up-in-compress": {call: compress, want: ErrPluginCrashed, says: "its connection broke",
			retryable: true},
		"hangs-in-optimize": {call: optimize, want: ErrTimeout, says: "see plugins.optimizeTimeout"},
		"waits-in-compress": {call: compress, want: ErrTimeout, says: "see plugins.compressTimeout"},
		"stops-in-optimize": {call: optimize, want: ErrTimeout},
		"for-another-revision": {call: optimize, want: ErrBadAnswer,
			says: "revision 8 of the history, asked for was 7"},
		"announces-too-much": {call: optimize, want: ErrBadAnswer,
			says: "announces 1099511627776 edits for 2 entries"},
		"huge-answer":                {call: optimize, want: ErrBadAnswer, says: "over the size limit"},
		"deep-json":                  {call: optimize, want: ErrBadAnswer, says: "nested 5000 deep, at most 1000"},
		"one-huge-message":           {call: optimize, want: ErrBadAnswer, says: "larger than max"},
		"one-huge-chunk":             {call: optimize, want: ErrBadAnswer, says: "a chunk of 2097152 bytes"},
		"never-ends":                 {call: optimize, want: ErrBadAnswer, says: "more data than announced"},
		"drips":                      {call: optimize, want: ErrTimeout, says: "no answer within 300ms"},
		"sends-nothing-for-ever":     {call: optimize, want: ErrTimeout, says: "no answer within 300ms"},
		"ends-without-an-answer":     {call: optimize, want: ErrBadAnswer, says: "without an answer"},
		"asks-for-resync":            {call: optimize, want: ErrBadAnswer, says: "whole history"},
		"answers-without-header":     {call: optimize, want: ErrBadAnswer, says: "does not begin with a header"},
		"answers-garbage":            {call: optimize, want: ErrBadAnswer, says: "edit 0"},
		"answers-too-little":         {call: optimize, want: ErrBadAnswer, says: "ended early"},
		"answers-too-much":           {call: compress, want: ErrBadAnswer, says: "more data than announced"},
		"sends-two-headers":          {call: compress, want: ErrBadAnswer, says: "second header"},
		"counts-without-end":         {call: compress, want: ErrBadAnswer, says: "100000 labels, at most 64"},
		"does-nothing-and-something": {call: compress, want: ErrBadAnswer, says: "reports a no-op but sends 1 pieces"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)},
				OptimizeTimeout: time.Minute, CompressTimeout: time.Minute},
				Limits: client.Limits{MaxAnswerBytes: 16 << 20}})
			if errors.Is(test.want, ErrTimeout) {
				m.opts.OptimizeTimeout, m.opts.CompressTimeout = 300*time.Millisecond, 300*time.Millisecond
			}
			s := strategy(t, m, name)
			err := test.call(t.Context(), s)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v\nwant %v that says %q", err, test.want, test.says)
			}
			var failure *Error
			if !errors.As(err, &failure) || failure.Plugin != name || failure.Path == "" {
				t.Errorf("%v does not name the plugin and its path", err)
			}
			if failure.Retryable != test.retryable {
				t.Errorf("retryable: %v", failure.Retryable)
			}
		})
	}
}

// Whatever a plugin does to its standard output, before the handshake and after it, it is one that can be called.
func TestNoiseOnStandardOutputHurtsNobody(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"chatty", "noisy", "floods-stdout"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}}), name)
			for range 3 {
				if _, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")}); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// What a plugin sends is not collected, nor decoded, before it is found to be too much.
func TestAnAnswerThatIsTooMuchIsNotTakenIntoMemory(t *testing.T) {
	race.Skip(t)
	for name, says := range map[string]string{
		"one-gigabyte": "more than 67108864 bytes", "tiny-blocks": "it takes more than 256 MiB of memory",
	} {
		t.Run(name, func(t *testing.T) { refusedCheaply(t, name, says) })
	}
}

func refusedCheaply(t *testing.T, name, says string) {
	t.Helper()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}}), name)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a", "b")})
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrBadAnswer) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*uint64(client.DefaultLimits().MaxAnswerBytes) {
		t.Errorf("%d MB of memory were taken in all", used>>20)
	}
}

func TestAPluginThatIsKilledInTheMiddleOfACompress(t *testing.T) {
	t.Parallel()
	dir := pluginDir(t, "waits-in-compress")
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{dir}}})
	s := strategy(t, m, "waits-in-compress")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a")}, services{})
		failed <- err
	}()
	plugintest.Eventually(t, "the call", func() bool { return users(s) == 1 })
	_ = syscall.Kill(plugintest.Processes(t, dir)[0], syscall.SIGKILL)
	err := <-failed
	var failure *Error
	if !errors.As(err, &failure) || !failure.Retryable || !errors.Is(err, ErrPluginCrashed) ||
		!strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("got %v", err)
	}
	strategy(t, m, s.Name()) // it is started again
}

func TestACancelledCallSaysSo(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "waits-in-optimize")}}}),
		"waits-in-optimize")
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	_, err := s.Optimize(ctx, prepare.OptimizeCall{Call: call("a")})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrStrategy) {
		t.Errorf("got %v", err)
	}
}

func TestAStoppedPluginIsReplaced(t *testing.T) {
	t.Parallel()
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "stops-in-optimize")},
		OptimizeTimeout: 50 * time.Millisecond}})
	s := strategy(t, m, "stops-in-optimize")
	first := pid(t, s)
	// On a busy machine a call may time out before the plugin has stopped itself, and the probe be answered: then call
	// again.
	plugintest.Eventually(t, "the stopped process is killed", func() bool {
		if state, _ := s.State(); plugintest.Exists(first) && state == StateReady {
			_, err := s.Optimize(t.Context(), prepare.OptimizeCall{Call: call("a")})
			if !errors.Is(err, ErrTimeout) && !errors.Is(err, ErrPluginCrashed) {
				t.Fatalf("got %v", err)
			}
		}
		return !plugintest.Exists(first)
	})
	plugintest.Eventually(t, "another process serves calls", func() bool {
		_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
		if err != nil && !errors.Is(err, ErrPluginCrashed) {
			t.Fatalf("got %v", err)
		}
		return err == nil
	})
}

func TestAStrategyUsesTheHostDuringCompress(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "needs-llm")}}}), "needs-llm")
	got, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
	if err != nil {
		t.Fatal(err)
	}
	want := content.Content{Speaker: content.Human, Blocks: []content.Block{
		content.Text{Text: `prompt "<compression>", tokens [4], text "for <compression>", finish "stop"`},
	}}
	if diff := cmp.Diff(rewrite.Piece(rewrite.Added{Content: want}), got.Pieces[1],
		cmpopts.IgnoreUnexported(content.Content{})); diff != "" {
		t.Error(diff)
	}
}

func TestHostServicesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"uses-no-call":            `FailedPrecondition`,
		"generates-without-leave": "requires_llm",
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, name)}}}), name)
			got, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{})
			if err != nil || !strings.Contains(string(got.NoOp), want) ||
				!strings.Contains(string(got.NoOp), "FailedPrecondition") {
				t.Errorf("got %v, %v; want %s", got.NoOp, err, want)
			}
		})
	}
}

func TestAnErrorOfTheHostReachesTheStrategyAndComesBack(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "needs-llm")}}}), "needs-llm")
	_, err := s.Compress(t.Context(), prepare.CompressCall{Call: call("a", "b")}, services{
		generate: func(context.Context) (sdk.Completion, error) {
			return sdk.Completion{},
				errors.New("no such model")
		},
	})
	if !errors.Is(err, ErrStrategy) || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("got %v", err)
	}
}

func TestAHostServiceEndsWithTheCall(t *testing.T) {
	t.Parallel()
	s := strategy(t, open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "needs-llm")}}}), "needs-llm")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	_, err := s.Compress(ctx, prepare.CompressCall{Call: call("a", "b")}, services{
		generate: func(ctx context.Context) (sdk.Completion, error) {
			cancel()
			<-ctx.Done()
			close(ended)
			return sdk.Completion{}, ctx.Err()
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-ended
}

func TestWhatAPluginSees(t *testing.T) {
	t.Setenv("A_SECRET", "of the host")
	t.Setenv("LANG", "C.UTF-8")
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ"} {
		t.Setenv(name, "")
	}
	m := open(t, Options{Plugins: config.Plugins{Dirs: []string{pluginDir(t, "tells-what-it-sees")}},
		Settings: settings(t, map[string]any{"strategies.tells-what-it-sees.keep": 7})})
	s := strategy(t, m, "tells-what-it-sees")
	config, err := s.Config(settings(t, map[string]any{"strategies.tells-what-it-sees.keep": "8"}))
	if err != nil {
		t.Fatal(err)
	}
	in := call("a")
	in.Config = config
	got, err := s.Compress(t.Context(), prepare.CompressCall{Call: in}, services{})
	if err != nil {
		t.Fatal(err)
	}
	want := "env [GOMEMLIMIT LANG LC_ALL LC_CTYPE LC_MESSAGES PLUGIN_MAX_PORT PLUGIN_MIN_PORT " +
		"PLUGIN_PROTOCOL_VERSIONS PLUGIN_UNIX_SOCKET_DIR " +
		"THRESH_LIFELINE_FD THRESH_STRATEGY_PLUGIN TMPDIR TZ] dir -rwx------ input /dev/null config " +
		`{"keep":8} {"keep":7}`
	if diff := cmp.Diff(want, string(got.NoOp)); diff != "" {
		t.Error(diff)
	}
	in.Config = nil
	if got, err = s.Compress(t.Context(), prepare.CompressCall{Call: in}, services{}); err != nil ||
		!strings.HasSuffix(string(got.NoOp), `config {"keep":7} {"keep":7}`) {
		t.Errorf("without settings for the session: %v, %v", got.NoOp, err)
	}
}
