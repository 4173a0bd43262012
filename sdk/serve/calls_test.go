package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/thresh-dev/thresh/internal/rewrite"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/sdk"
)

func words(s sdk.Speaker, texts ...string) sdk.Content {
	c := sdk.Content{Speaker: s, Blocks: []sdk.Block{}}
	for _, t := range texts {
		c.Blocks = append(c.Blocks, sdk.Text{Text: t})
	}
	return c
}

func talk() []sdk.Content {
	return []sdk.Content{words("human", "q"), words("ai", "a", "b"), words("human", "c", "d", "e")}
}

func header(session string) *threshv1.CallHeader {
	return &threshv1.CallHeader{CallId: "call-1", SessionId: session, Revision: 12, WorkspaceRoot: "/w",
		Config: []byte(`{"keep":50}`)}
}

var compareBlock = cmp.Comparer(func(a, b sdk.Block) bool {
	return sdk.Content{Blocks: []sdk.Block{a}}.Equal(sdk.Content{Blocks: []sdk.Block{b}})
})
var compareContent = cmp.Comparer(func(a, b sdk.Content) bool { return a.Equal(b) })

func TestGetInfoTellsWhatTheStrategyDeclares(t *testing.T) {
	p := start(t, selfAs(t, "actor"))
	got, err := p.GetInfo(t.Context(), &threshv1.GetInfoRequest{HostVersion: "test"})
	want := &threshv1.GetInfoResponse{
		Name: "actor", Version: "1.2.3", Description: "Does what a test says.", RequiresLlm: true,
		Trigger:  &threshv1.Trigger{Mode: threshv1.TriggerMode_TRIGGER_MODE_CONTINUOUS, DefaultThreshold: 0.7},
		Features: &threshv1.Features{HistoryDelta: true},
		Config: []*threshv1.ConfigField{
			{Key: "keep", Type: threshv1.ConfigType_CONFIG_TYPE_INTEGER, DefaultValue: []byte("50"), Minimum: new(1.0)},
			{Key: "mode", Type: threshv1.ConfigType_CONFIG_TYPE_STRING, Allowed: []string{"a", "b"}},
		},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(want, "sdk")); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, _, err := p.optimize(t.Context(), header("x"), talk()); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("Optimize before Configure: %v", err)
	}
}

func TestConfigureRefusesABadConfigOnce(t *testing.T) {
	p := start(t, selfAs(t, "actor"))
	for config, says := range map[string]string{`[1]`: "not a JSON object", `{"mode":"forbidden"}`: `use "a" or "b"`} {
		_, err := p.Configure(t.Context(), &threshv1.ConfigureRequest{Config: []byte(config)})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("config %s: error %v; want InvalidArgument that says %q", config, err, says)
		}
	}
	if _, err := p.Configure(t.Context(), &threshv1.ConfigureRequest{}); err != nil {
		t.Errorf("no config: %v", err)
	}
	if _, err := p.Configure(t.Context(), &threshv1.ConfigureRequest{}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a second Configure: %v", err)
	}
}

func TestOptimizeAnswersEditsThatNameWhatIsKept(t *testing.T) {
	p := configured(t, nil)
	result, edits, err := p.optimize(t.Context(), header("ok"), talk())
	if err != nil {
		t.Fatal(err)
	}
	wantResult := &threshv1.OptimizeResult{Revision: 12, Edits: 3,
		Metadata: &threshv1.DensityMetadata{ReadWritePairsPruned: 1, FileDeduplicationsPruned: 2, RecencyPruned: 3}}
	if diff := cmp.Diff(wantResult, result, protocmp.Transform()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	want := []rewrite.Edit{{Index: 0, Remove: true}, {Index: 1, Blocks: []rewrite.BlockPiece{{Keep: 1}}},
		{Index: 2, Blocks: []rewrite.BlockPiece{{Keep: 1}, {Keep: 2}}}}
	if diff := cmp.Diff(want, edits, compareBlock); diff != "" {
		t.Errorf("edits (-want +got):\n%s", diff)
	}
}

func TestCompressAnswersPiecesThatNameWhatIsKept(t *testing.T) {
	p := configured(t, nil)
	h := &threshv1.CompressHeader{Call: header("ok"), ContextLimit: 1000, Threshold: 0.5,
		ActiveTodos: []*threshv1.Todo{{Id: "1", Subtasks: []*threshv1.Todo{{Id: "1.1"}}}}}
	big := append(talk(), words("tool", strings.Repeat("x", 10<<20)), words("ai", "end"))
	result, pieces, err := p.compress(t.Context(), h, big)
	if err != nil {
		t.Fatal(err)
	}
	wantResult := &threshv1.CompressResult{Revision: 12, Pieces: 3,
		Metadata: &threshv1.CompressMetadata{LlmCallMade: true, BottomPreserved: new(int64(3)),
			Counts: map[string]int64{"todos": 1}}}
	if diff := cmp.Diff(wantResult, result, protocmp.Transform()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	want := []rewrite.Piece{
		rewrite.Edited{Index: 0, Blocks: []rewrite.BlockPiece{{Block: sdk.Text{Text: "changed"}}}},
		rewrite.Added{Content: words("human", "target 300")},
		rewrite.Keep{From: 2, To: 5},
	}
	if diff := cmp.Diff(want, pieces, compareBlock, compareContent); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
}

func TestErrorsOfAStrategyBecomeCodes(t *testing.T) {
	p := configured(t, nil)
	tests := map[string]struct {
		call func() error
		code codes.Code
		says string
	}{
		"a plain error":       {optimizing(p, "fail"), codes.Unknown, "no idea what to do"},
		"one that may pass":   {optimizing(p, "retry"), codes.Unavailable, "disk is full"},
		"a panic in Optimize": {optimizing(p, "panic"), codes.Internal, "panic in Optimize (strategy_test.go:"},
		"a panic in Compress": {compressing(p, "panic"), codes.Internal,
			"runtime error: index out of range"},
		"history changed":        {optimizing(p, "in-place"), codes.Internal, "changed entry 1 of in.History in place"},
		"removal out of bounds":  {optimizing(p, "bad"), codes.Internal, "Removals names entry 3"},
		"a forgotten result":     {compressing(p, "nothing"), codes.Internal, "use sdk.Applied"},
		"services that are none": {compressing(p, "estimate"), codes.FailedPrecondition, "offers no services"},
		"a session's bad config": {func() error {
			h := header("ok")
			h.Config = []byte(`{"mode":"forbidden"}`)
			_, _, err := p.optimize(t.Context(), h, talk())
			return err
		}, codes.InvalidArgument, `use "a" or "b"`},
		"a broken taxonomy": {func() error {
			h := header("ok")
			h.Tools = []byte(`{`)
			_, _, err := p.optimize(t.Context(), h, talk())
			return err
		}, codes.InvalidArgument, "CallHeader.tools"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.call()
			if status.Code(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v; want %v that says %q", err, tt.code, tt.says)
			}
		})
	}
	line := p.log.line(t, "panic in Optimize")
	if !strings.Contains(line, `"@level":"error"`) || !strings.Contains(line, "strategy_test.go") {
		t.Errorf("the log of the panic has no level or no place: %s", line)
	}
	if _, _, err := p.optimize(t.Context(), header("ok"), talk()); err != nil {
		t.Errorf("the process does not work any more: %v", err)
	}
}

func optimizing(p *running, session string) func() error {
	return func() error {
		_, _, err := p.optimize(context.Background(), header(session), talk())
		return err
	}
}

func compressing(p *running, session string) func() error {
	return func() error {
		_, _, err := p.compress(context.Background(), &threshv1.CompressHeader{Call: header(session)}, talk())
		return err
	}
}

func TestCancelReachesTheStrategy(t *testing.T) {
	p := configured(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := p.optimize(ctx, header("hang"), talk())
		done <- err
	}()
	p.log.line(t, "hanging", `"entries":3`, `"session":"hang"`, `"@level":"warn"`)
	cancel()
	if err := <-done; status.Code(err) != codes.Canceled {
		t.Errorf("the host's call: %v", err)
	}
	p.log.line(t, "cancelled", "context canceled")

	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := p.optimize(ctx, header("hang"), talk()); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a deadline: %v", err)
	}
}

func TestDeltaIsAnsweredByResync(t *testing.T) {
	p := configured(t, nil)
	h := header("ok")
	h.Base = &threshv1.Base{Epoch: 3, Length: 2, Digest: []byte("x")}
	o, _, err := p.optimize(t.Context(), h, talk()[2:])
	if err != nil || !o.GetResync() || o.GetRevision() != 12 {
		t.Errorf("Optimize: %v, %v", o, err)
	}
	c, _, err := p.compress(t.Context(), &threshv1.CompressHeader{Call: h}, talk()[2:])
	if err != nil || !c.GetResync() || c.GetRevision() != 12 {
		t.Errorf("Compress: %v, %v", c, err)
	}
}

func TestCallsOfManySessionsRunAtOnce(t *testing.T) {
	p := configured(t, nil)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			session := "ok"
			if i%4 == 0 {
				session = "panic"
			}
			_, edits, err := p.optimize(t.Context(), header(session), talk())
			if session == "ok" && (err != nil || len(edits) != 3) {
				t.Errorf("%d: %d edits, %v", i, len(edits), err)
			}
		})
	}
	wg.Wait()
}

func TestNoiseOnStdoutAndStderrHurtsNothing(t *testing.T) {
	p := configured(t, nil)
	for range 3 {
		if _, _, err := p.optimize(t.Context(), header("noise"), talk()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChunksOfOneByte(t *testing.T) {
	p := configured(t, nil)
	stream, err := p.Optimize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	call := header("ok")
	call.Entries = 3
	if err := stream.Send(optimizeHeader(call)); err != nil {
		t.Fatal(err)
	}
	send(talk(), func(chunk []byte) error {
		for i := range chunk {
			if err := stream.Send(optimizeChunk(chunk[i : i+1])); err != nil {
				return err
			}
		}
		return nil
	})
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if r, err := stream.Recv(); err != nil || r.GetHeader().GetEdits() != 3 {
		t.Errorf("answer %v, %v", r, err)
	}
}

func optimizeHeader(call *threshv1.CallHeader) *threshv1.OptimizeRequest {
	return &threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Header{Header: &threshv1.OptimizeHeader{Call: call}}}
}

func optimizeChunk(chunk []byte) *threshv1.OptimizeRequest {
	return &threshv1.OptimizeRequest{Part: &threshv1.OptimizeRequest_Chunk{Chunk: chunk}}
}

func TestBrokenRequestsAreInvalidArgument(t *testing.T) {
	p := configured(t, nil)
	two := header("ok")
	two.Entries = 2
	huge := header("ok")
	huge.Entries = 1 << 40
	tests := map[string]struct {
		messages []*threshv1.OptimizeRequest
		says     string
	}{
		"nothing":               {nil, "header"},
		"a chunk first":         {[]*threshv1.OptimizeRequest{optimizeChunk([]byte("x"))}, "header"},
		"a header without call": {[]*threshv1.OptimizeRequest{optimizeHeader(nil)}, "header"},
		"two headers": {[]*threshv1.OptimizeRequest{optimizeHeader(two), optimizeHeader(two)},
			"only chunks follow"},
		"garbage in a chunk": {[]*threshv1.OptimizeRequest{optimizeHeader(two),
			optimizeChunk([]byte("\x05\xff\xff\xff\xff\xff"))}, "entry 0"},
		"too few entries": {[]*threshv1.OptimizeRequest{optimizeHeader(two), optimizeChunk([]byte("\x00"))},
			"entry 1 of the 2"},
		"too many entries": {[]*threshv1.OptimizeRequest{optimizeHeader(two), optimizeChunk([]byte("\x00\x00\x00"))},
			"more data than announced"},
		"an entry without bytes": {[]*threshv1.OptimizeRequest{optimizeHeader(two),
			optimizeChunk([]byte("\xff\xff\xff\xff\x0f"))}, "at most"},
		"a count of 2^40": {[]*threshv1.OptimizeRequest{optimizeHeader(huge)}, "CallHeader.entries"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stream, err := p.Optimize(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range tt.messages {
				_ = stream.Send(m) // Recv says why it failed
			}
			_ = stream.CloseSend()
			_, err = stream.Recv()
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v; want InvalidArgument that says %q", err, tt.says)
			}
		})
	}
	t.Run("a message that is no protobuf", func(t *testing.T) {
		stream, err := p.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			threshv1.StrategyService_Optimize_FullMethodName, grpc.ForceCodecV2(rawCodec{}))
		if err != nil {
			t.Fatal(err)
		}
		_ = stream.SendMsg([]byte("\xff\xff\xff\xff"))
		var answer []byte
		if err := stream.RecvMsg(&answer); status.Code(err) != codes.Internal { // gRPC answers before any handler can
			t.Errorf("error %v; want Internal", err)
		}
		if _, _, err := p.optimize(t.Context(), header("ok"), talk()); err != nil {
			t.Errorf("the process does not work any more: %v", err)
		}
	})
}

// rawCodec sends bytes as they are.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

func TestServicesOfTheHost(t *testing.T) {
	tests := map[string]struct {
		host    counter
		session string
		profile string
		history []sdk.Content
		noop    string
		code    codes.Code
		says    string
	}{
		"EstimateTokens": {session: "estimate", history: talk(), noop: "3 entries, 6 tokens, 30 came with them"},
		"EstimateTokens of kept": {session: "estimate-kept", history: talk(),
			noop: "3 entries, 30 tokens, 30 came with them"},
		"EstimateTokens of 10 MB": {session: "estimate", history: []sdk.Content{words("tool",
			strings.Repeat("y", 10<<20))}, noop: "1 entries, 1 tokens, 10 came with them"},
		"ResolvePrompt and Generate": {session: "generate", profile: "compression", history: talk(),
			noop: "be brief! in 2 pieces, stop, 7+99, m"},
		"an unknown prompt": {session: "generate", profile: "nope", history: talk(), code: codes.NotFound,
			says: "ResolvePrompt: not found"},
		"Generate not granted": {host: counter{fail: fmt.Errorf("profile: %w", sdk.ErrNotGranted)},
			session: "generate", profile: "compression", history: talk(), code: codes.FailedPrecondition,
			says: "Generate: profile: not granted"},
		"Generate over its budget": {host: counter{fail: sdk.ErrBudgetSpent}, session: "generate",
			profile: "compression",
			history: talk(), code: codes.ResourceExhausted, says: "budget spent"},
		"a provider that is away": {host: counter{fail: errors.Join(errors.New("status 529"), sdk.ErrUnavailable)},
			session: "generate", profile: "compression", history: talk(), code: codes.Unavailable, says: "529"},
		"tool blocks for Generate": {session: "generate", profile: "compression",
			history: []sdk.Content{{Speaker: sdk.AI,
				Blocks: []sdk.Block{sdk.ToolCall{}}}}, code: codes.Internal, says: "block 0 is a content.ToolCall"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := configured(t, tt.host)
			r, _, err := p.compress(t.Context(),
				&threshv1.CompressHeader{Call: header(tt.session), Profile: tt.profile},
				tt.history)
			if status.Code(err) != tt.code || r.GetNoopReason() != tt.noop ||
				(err != nil && !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("answer %q, error %v; want %q, %v that says %q", r.GetNoopReason(), err, tt.noop, tt.code,
					tt.says)
			}
		})
	}
}

func TestAHostIsOfNoUseWhenItsCallIsOver(t *testing.T) {
	p := configured(t, counter{})
	if _, _, err := p.compress(t.Context(), &threshv1.CompressHeader{Call: header("leak")}, talk()); err != nil {
		t.Fatal(err)
	}
	p.log.line(t, "after the call", `"refused":true`)
}
