package wire

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// transported sends a message through its encoding.
func transported[M proto.Message](t *rapid.T, m, into M) M {
	raw, err := proto.Marshal(m)
	if err == nil {
		err = proto.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

// same compares what came back with what went; empty and nil are the same on the wire.
func same[T any](t *rapid.T, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-sent +received):\n%s", diff)
	}
}

func drawTodos(t *rapid.T, depth int) []sdk.Todo {
	var out []sdk.Todo
	for range rapid.IntRange(0, depth).Draw(t, "todos") {
		out = append(out, sdk.Todo{
			ID: genString().Draw(t, "id"), Content: genString().Draw(t, "content"),
			Status:   genString().Draw(t, "status"),
			Subtasks: drawTodos(t, depth-1),
		})
	}
	return out
}

func drawCall(t *rapid.T) Call {
	var base Call
	if rapid.Bool().Draw(t, "delta") {
		base.Held = rapid.Uint64Min(1).Draw(t, "held")
		base.Digest = Digest{Bytes: rapid.Uint64().Draw(t, "bytes"), CRC: rapid.Uint32().Draw(t, "crc")}
		base.Pieces = rapid.IntRange(0, math.MaxInt32).Draw(t, "pieces")
	}
	return Call{
		CallParams: sdk.CallParams{
			SessionID: genString().Draw(t, "session"), Revision: rapid.Uint64().Draw(t, "revision"),
			CallSettings: sdk.CallSettings{
				WorkspaceRoot: genString().Draw(t, "root"), Config: sdk.Config(genRaw().Draw(t, "config")),
			},
		},
		ID: genString().Draw(t, "id"), Epoch: rapid.Uint64().Draw(t, "epoch"),
		Held: base.Held, Digest: base.Digest, Pieces: base.Pieces,
		Entries: rapid.IntRange(0, math.MaxInt32).Draw(t, "entries"), Tools: genRaw().Draw(t, "tools"),
	}
}

func drawCompressParams(t *rapid.T) sdk.CompressParams {
	n := rapid.Int()
	share := rapid.Float64Range(0, 1)
	p := sdk.CompressParams{
		CompressSettings: sdk.CompressSettings{
			ContextLimit: n.Draw(t, "limit"), CompletionBudget: n.Draw(t, "budget"),
			PreserveThreshold: share.Draw(t, "preserve"), TopPreserveThreshold: share.Draw(t, "top"),
			Todos: drawTodos(t, 3), TranscriptPath: genString().Draw(t, "path"),
			UserMessageBudget: n.Draw(t, "messages"),
		},
		CurrentTokens: n.Draw(t, "current"), PendingTokens: n.Draw(t, "pending"), Depth: n.Draw(t, "depth"),
		Threshold: share.Draw(t, "threshold"),
		Reason: rapid.SampledFrom([]sdk.CompressReason{
			sdk.ReasonThreshold, sdk.ReasonHardLimit, sdk.ReasonManual,
		}).Draw(t, "reason"),
		Profile: genString().Draw(t, "profile"),
	}
	if rapid.Bool().Draw(t, "has a model") {
		p.Model = &sdk.Model{
			Name: genString().Draw(t, "model"), ContextLimit: n.Draw(t, "its limit"),
			MaxOutput: n.Draw(t, "its output"),
		}
	}
	return p
}

func TestCompressHeadersComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call, params := drawCall(t), drawCompressParams(t)
		gotCall, got, err := fromCompressHeader(transported(t, toCompressHeader(call, params),
			&threshv1.CompressHeader{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, call, gotCall)
		same(t, params, got)
	})
}

func TestOptimizeHeadersComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := drawCall(t)
		params := sdk.OptimizeParams{Density: sdk.DensityConfig{
			ReadWritePruning: rapid.Bool().Draw(t, "rw"), FileDedupe: rapid.Bool().Draw(t, "dedupe"),
			RecencyPruning: rapid.Bool().Draw(t, "recency"), RecencyRetention: rapid.Int().Draw(t, "retention"),
			PartialWrites: rapid.SampledFrom([]sdk.PartialWrites{
				sdk.PartialWritesPrune, sdk.PartialWritesKeep,
			}).Draw(t, "partial"),
		}}
		gotCall, got, err := fromOptimizeHeader(transported(t, toOptimizeHeader(call, params),
			&threshv1.OptimizeHeader{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, call, gotCall)
		same(t, params, got)
	})
}

func TestResultsComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int()
		maybe := func(label string) *int {
			if !rapid.Bool().Draw(t, "has "+label) {
				return nil
			}
			return new(n.Draw(t, label))
		}
		optimize := Result[sdk.DensityMetadata]{
			Revision: rapid.Uint64().Draw(t, "revision"), Parts: rapid.Uint64().Draw(t, "parts"),
			Resync: rapid.Bool().Draw(t, "resync"),
			Metadata: sdk.DensityMetadata{
				ReadWritePairsPruned: n.Draw(t, "pairs"), FileDeduplicationsPruned: n.Draw(t, "inclusions"),
				RecencyPruned: n.Draw(t, "recency"),
			},
		}
		same(t, optimize, fromOptimizeResult(transported(t, toOptimizeResult(optimize), &threshv1.OptimizeResult{})))
		compress := Result[sdk.CompressMetadata]{
			Revision: optimize.Revision, Parts: optimize.Parts, Resync: optimize.Resync,
			NoOp: sdk.NoOpReason(genString().Draw(t, "no-op")),
			Metadata: sdk.CompressMetadata{
				LLMCallMade: rapid.Bool().Draw(t, "llm"), TopPreserved: maybe("top"), BottomPreserved: maybe("bottom"),
				MiddleCompressed: maybe("middle"), TargetMissed: rapid.Bool().Draw(t, "missed"),
				Counts: rapid.MapOf(genString(), rapid.Int64()).Draw(t, "counts"),
			},
		}
		same(t, compress, fromCompressResult(transported(t, toCompressResult(compress), &threshv1.CompressResult{})))
	})
}

func TestInfoComesBackAsItWent(t *testing.T) {
	defaults := []any{nil, true, "text", 1.5, float64(7)} // numbers come back as JSON has them
	rapid.Check(t, func(t *rapid.T) {
		bound := func(label string) *float64 {
			if !rapid.Bool().Draw(t, "has "+label) {
				return nil
			}
			return new(rapid.Float64().Draw(t, label))
		}
		info := sdk.Info{
			Name: genString().Draw(t, "name"), Version: genString().Draw(t, "version"),
			Description: genString().Draw(t, "description"),
			Trigger: sdk.Trigger{
				Mode: rapid.SampledFrom([]sdk.TriggerMode{
					sdk.ModeContinuous, sdk.ModeThreshold,
				}).Draw(t, "mode"),
				DefaultThreshold: rapid.Float64().Draw(t, "threshold"),
				EarlyThreshold:   rapid.Float64().Draw(t, "early threshold"),
			},
			RequiresLLM: rapid.Bool().Draw(t, "llm"), NeedsNetwork: rapid.Bool().Draw(t, "network"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			info.Config = append(info.Config, sdk.ConfigField{
				Key: genString().Draw(t, "key"),
				Type: rapid.SampledFrom([]sdk.ConfigType{
					sdk.Boolean, sdk.Integer, sdk.Number, sdk.String,
				}).Draw(t, "type"),
				Default:     rapid.SampledFrom(defaults).Draw(t, "default"),
				Description: genString().Draw(t, "meaning"), Allowed: rapid.SliceOf(genString()).Draw(t, "allowed"),
				Minimum: bound("minimum"), Maximum: bound("maximum"),
			})
		}
		sent, err := ToInfo(info, "sdk 1")
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromInfo(transported(t, sent, &threshv1.GetInfoResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, info, got)
	})
}

func TestConfigurationAndCompletionComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		conf := Configuration{
			HostServiceID: rapid.Uint32().Draw(t, "id"), Config: sdk.Config(genRaw().Draw(t, "config")),
			LogLevel: genString().Draw(t, "level"),
		}
		same(t, conf, FromConfigure(transported(t, ToConfigure(conf), &threshv1.ConfigureRequest{})))
		end := sdk.Completion{
			FinishReason: genString().Draw(t, "finish"), Model: genString().Draw(t, "model"),
			InputTokens: rapid.Int().Draw(t, "in"), OutputTokens: rapid.Int().Draw(t, "out"),
		}
		same(t, end, fromGenerateEnd(transported(t, toGenerateEnd(end), &threshv1.GenerateEnd{})))
	})
}

// A newer or a broken peer sends what this version has no word for.
func TestWhatIsNotKnownIsReadAsTheProtocolSays(t *testing.T) {
	header := toCompressHeader(Call{}, sdk.CompressParams{})
	header.Reason = 99
	if _, p, err := fromCompressHeader(header); err != nil || p.Reason != sdk.ReasonThreshold {
		t.Errorf("an unknown reason is %q, %v", p.Reason, err)
	}
	optimize := toOptimizeHeader(Call{}, sdk.OptimizeParams{})
	optimize.Density.PartialWrites = threshv1.PartialWrites_PARTIAL_WRITES_UNSPECIFIED
	if _, p, err := fromOptimizeHeader(optimize); err != nil || p.Density.PartialWrites != sdk.PartialWritesPrune {
		t.Errorf("unspecified partial writes are %q, %v", p.Density.PartialWrites, err)
	}
	for name, call := range map[string]*threshv1.CallHeader{
		"no header": nil, "too many entries": {Entries: math.MaxInt32 + 1},
	} {
		if _, _, err := fromCompressHeader(&threshv1.CompressHeader{Call: call}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	info, err := FromInfo(&threshv1.GetInfoResponse{Config: []*threshv1.ConfigField{{Type: 9}}})
	if err != nil || info.Trigger.Mode.Known() || info.Config[0].Type.Known() {
		t.Errorf("got %+v, %v", info, err)
	}
	for _, raw := range []string{"{", "null"} {
		if _, err := FromInfo(&threshv1.GetInfoResponse{
			Config: []*threshv1.ConfigField{{Key: "k", DefaultValue: []byte(raw)}},
		}); err == nil {
			t.Errorf("the default %s: no error", raw)
		}
	}
}

// filled sets every field that v holds to something, so that one that is forgotten on the way is noticed.
func filled(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), depth)
	case reflect.Slice:
		if depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			filled(v.Index(0), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int64{"n": 1}))
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), depth)
		}
	case reflect.Uint8:
		v.SetUint('1')
	case reflect.Interface:
		v.Set(reflect.ValueOf(true))
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

func full[T any]() T {
	var v T
	filled(reflect.ValueOf(&v).Elem(), 2)
	return v
}

func TestNoFieldIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { // for its helpers; nothing is drawn
		call, params := full[Call](), full[sdk.CompressParams]()
		params.Reason = sdk.ReasonManual
		gotCall, got, err := fromCompressHeader(toCompressHeader(call, params))
		if err != nil {
			t.Fatal(err)
		}
		same(t, call, gotCall)
		same(t, params, got)
		optimize := full[sdk.OptimizeParams]()
		optimize.Density.PartialWrites = sdk.PartialWritesKeep
		_, gotOptimize, err := fromOptimizeHeader(toOptimizeHeader(call, optimize))
		if err != nil {
			t.Fatal(err)
		}
		same(t, optimize, gotOptimize)
		compressed := full[Result[sdk.CompressMetadata]]()
		same(t, compressed, fromCompressResult(toCompressResult(compressed)))
		optimized := full[Result[sdk.DensityMetadata]]()
		optimized.NoOp = "" // not in an Optimize
		same(t, optimized, fromOptimizeResult(toOptimizeResult(optimized)))
		info := full[sdk.Info]()
		info.Trigger.Mode, info.Config[0].Type = sdk.ModeThreshold, sdk.Boolean
		sent, err := ToInfo(info, "")
		if err != nil {
			t.Fatal(err)
		}
		gotInfo, err := FromInfo(sent)
		if err != nil {
			t.Fatal(err)
		}
		same(t, info, gotInfo)
		conf := full[Configuration]()
		same(t, conf, FromConfigure(ToConfigure(conf)))
		end := full[sdk.Completion]()
		end.Text = "" // travels ahead
		same(t, end, fromGenerateEnd(toGenerateEnd(end)))
	})
}
