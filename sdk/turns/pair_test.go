package turns_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/turns"
)

func TestPair(t *testing.T) {
	tests := map[string]struct {
		history                 string
		pairs, pending, orphans string
	}{
		"nothing":                            {"", "", "[]", "[]"},
		"one":                                {"h a:1 t:1 a", "{1 0}-{2 0} ", "[]", "[]"},
		"parallel, one entry":                {"a:1,2 t:2,1", "{0 0}-{1 1} {0 1}-{1 0} ", "[]", "[]"},
		"parallel, two entries":              {"a:1,2 t:1 t:2", "{0 0}-{1 0} {0 1}-{2 0} ", "[]", "[]"},
		"an id again":                        {"a:1 t:1 a:1 t:1", "{0 0}-{1 0} {2 0}-{3 0} ", "[]", "[]"},
		"an id again, the first unanswered":  {"a:1 h a:1 t:1", "{2 0}-{3 0} ", "[{0 0}]", "[]"},
		"an id twice open":                   {"a:1 a:1 t:1 t:1", "{0 0}-{3 0} {1 0}-{2 0} ", "[]", "[]"},
		"an id twice in an entry":            {"a:1,1 t:1 t:1", "{0 0}-{1 0} {0 1}-{2 0} ", "[]", "[]"},
		"an id twice, by name":               {"a:1r,1w t:1w t:1r", "{0 0}-{2 0} {0 1}-{1 0} ", "[]", "[]"},
		"an id twice, one name is no call's": {"a:1r,1w t:1x t:1", "{0 0}-{1 0} {0 1}-{2 0} ", "[]", "[]"},
		"an id twice, a name answered": {"a:1r,1w,1r t:1r,1r,1r", "{0 0}-{1 0} {0 1}-{1 2} {0 2}-{1 1} ", "[]",
			"[]"},
		"an id twice, named after all": {"a:1r,1w,1r t:1,1r,1w", "{0 0}-{1 0} {0 1}-{1 2} {0 2}-{1 1} ", "[]", "[]"},
		"an id twice in two entries": {"a:1r,1w a:1w,1r t:1r,1r,1r,1w",
			"{0 0}-{2 2} {0 1}-{2 3} {1 0}-{2 1} {1 1}-{2 0} ", "[]", "[]"},
		"the nearer entry goes before names": {"a:1r a:1w t:1r t:1w", "{0 0}-{3 0} {1 0}-{2 0} ", "[]", "[]"},
		"a human in between":                 {"a:1 h t:1", "{0 0}-{2 0} ", "[]", "[]"},
		"answered twice":                     {"a:1 t:1 t:1", "{0 0}-{1 0} ", "[]", "[{2 0}]"},
		"response first":                     {"t:1 a:1", "", "[{1 0}]", "[{0 0}]"},
		"calls of others do not count":       {"h:1 s:1 t:1", "", "[]", "[{2 0}]"},
		"responses of others do not count":   {"a:1 h:1", "", "[{0 0}]", "[]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := turns.Pair(made(tt.history))
			got := ""
			for call, response := range p.Answered() {
				got += fmt.Sprintf("%v-%v ", call, response)
			}
			if diff := cmp.Diff([]string{tt.pairs, tt.pending, tt.orphans},
				[]string{got, fmt.Sprint(p.Pending()), fmt.Sprint(p.Orphans())}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPairKnowsBothWays(t *testing.T) {
	p := turns.Pair(made("a:1,2 t:2"))
	call, response := turns.At{Entry: 0, Block: 1}, turns.At{Entry: 1, Block: 0}
	if got, ok := p.Response(call); !ok || got != response {
		t.Errorf("Response: %v, %v", got, ok)
	}
	if got, ok := p.Call(response); !ok || got != call {
		t.Errorf("Call: %v, %v", got, ok)
	}
	for _, at := range []turns.At{{0, 0}, {1, 0}, {-1, 0}, {0, 2}, {2, 0}, {0, -1}} {
		if got, ok := p.Response(at); ok {
			t.Errorf("Response(%v) = %v", at, got)
		}
	}
	for _, at := range []turns.At{{0, 1}, {1, 1}, {5, 5}} {
		if got, ok := p.Call(at); ok {
			t.Errorf("Call(%v) = %v", at, got)
		}
	}
}

func TestPairIsTheNearestUnanswered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		history := histories().Draw(t, "history")
		calls, responses := pairsOf(history)
		p := turns.Pair(history)
		n := 0
		for call, response := range p.Answered() {
			n++
			if i := slices.Index(calls, call); i < 0 || responses[i] != response {
				t.Fatalf("call %v is answered by %v", call, response)
			}
		}
		if n != len(calls) {
			t.Fatalf("%d pairs, want %d", n, len(calls))
		}
	})
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		history string
		want    []string
	}{
		"clean":              {"h a:1 t:1 a:2,3 t:2 t:3 a", nil},
		"pending at the end": {"h a:1 t:1 a:2,3 t:2", nil},
		"orphaned":           {"t:1 h", []string{`entry 0, block 0: the response to "1" has no call before it`}},
		"answered twice":     {"a:1 t:1 t:1", []string{`entry 2, block 0: the call "1" has been answered already`}},
		"unanswered":         {"a:1,2 t:2 h", []string{`entry 0, block 0: the call "1" has no response`}},
		"in order": {"t:9 a:1 h t:8", []string{
			`entry 0, block 0: the response to "9" has no call before it`,
			`entry 1, block 0: the call "1" has no response`,
			`entry 3, block 0: the response to "8" has no call before it`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range turns.Check(made(tt.history)) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A caller may learn of further calls of an entry after the first of them were answered.
func TestMatcherCallsOfAnEntryMayCome(t *testing.T) {
	var m turns.Matcher
	for i, name := range []string{"r", "r", "w", "r", "w"} {
		m.Call("1", name, turns.At{Entry: 7, Block: i})
		if got, ok := m.Response("1", name); !ok || got.Block != i {
			t.Errorf("call %d: %v, %v", i, got, ok)
		}
	}
	if got, ok := m.Response("1", "r"); ok {
		t.Errorf("all are answered, but %v", got)
	}
}

// hundredThousand is the worst that ids can do: one id for everything, all calls first or call and response in turn.
func hundredThousand(nested bool) []content.Content {
	const n = 100_000
	history := make([]content.Content, n)
	for i := range history {
		if nested && i < n/2 || !nested && i%2 == 0 {
			history[i] = content.Content{Speaker: content.AI, Blocks: []content.Block{content.ToolCall{ID: "call",
				Name: "read"}}}
		} else {
			history[i] = content.Content{Speaker: content.Tool,
				Blocks: []content.Block{content.ToolResponse{CallID: "call"}}}
		}
	}
	return history
}

// oneEntry is the same number of calls with one id in one entry. The responses have a name that comes last.
func oneEntry() []content.Content {
	calls, responses := content.Content{Speaker: content.AI}, content.Content{Speaker: content.Tool}
	for i := range 50_000 {
		name := "read"
		if i >= 49_000 {
			name = "write"
		}
		calls.Blocks = append(calls.Blocks, content.ToolCall{ID: "call", Name: name})
		responses.Blocks = append(responses.Blocks, content.ToolResponse{CallID: "call", ToolName: "write"})
	}
	return []content.Content{calls, responses}
}

func BenchmarkTurns(b *testing.B) {
	for name, history := range map[string][]content.Content{"in-turn": hundredThousand(false),
		"nested": hundredThousand(true), "one-entry": oneEntry()} {
		pairs := turns.Pair(history)
		for what, run := range map[string]func(){
			"Pair":       func() { turns.Pair(history) },
			"Exchanges":  func() { turns.Exchanges(history, pairs) },
			"CutForward": func() { turns.CutForward(history, len(history)/2+1) },
			"Check":      func() { turns.Check(history) },
		} {
			b.Run(what+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}
