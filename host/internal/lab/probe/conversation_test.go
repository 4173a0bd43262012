package probe_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/lab/compare"
	"github.com/thresh-dev/thresh/internal/testkit/modelapi"
)

// recalls is a call of the tool.
func recalls(arguments map[string]any) modelapi.Call {
	data, _ := json.Marshal(arguments)
	return modelapi.Call{Name: mcp.Tool, Arguments: string(data)}
}

// said is what a request says, in all its messages.
func said(r *modelapi.Request) string {
	var all []string
	for _, m := range r.Asked().Messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "\n")
}

// A model searches with the agents' own tool, and answers from what it finds.
func TestAModelSearchesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	h := host(t)
	for _, kind := range []string{config.KindOpenAI, config.KindAnthropic} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			at := t.TempDir()
			b, sessions := planSearch(t, h, at, options("top-down-truncation"), true)
			m, server := modelThat(t, kind, func(r *modelapi.Request) modelapi.Reply {
				prompt := r.Asked().Messages[0].Text
				if !r.Model || len(r.Asked().Messages) > 1 {
					return modelapi.Reply{Text: honest(r.Number, said(r))}
				}
				var calls []modelapi.Call
				for _, q := range askedIn.FindAllStringSubmatch(prompt, -1) {
					calls = append(calls, recalls(map[string]any{"query": "value-" + q[2]}))
				}
				return modelapi.Reply{Text: "I search.", Calls: calls}
			})
			st, spent, err := b.Ask(t.Context(), m, b.Variants(), sessions)
			if err != nil || len(spent.Failed) > 0 || len(server.Refused()) > 0 {
				t.Fatal(err, spent.Failed, server.Refused())
			}
			r := st.Report()
			without, with := row(t, r, "top-down-truncation"), row(t, r, "top-down-truncation + search")
			if without.Score.Mean == 1 || with.Score.Mean != 1 {
				t.Errorf("score %v without searching, %v with", without.Score.Mean, with.Score.Mean)
			}
			if without.Searches != nil || with.Searches.Mean != 1 || with.Found.Mean < 100 {
				t.Errorf("searches %+v and %+v, found %+v", without.Searches, with.Searches, with.Found)
			}
			if spent.Searches == 0 || spent.FoundTokens < 100*spent.Searches || spent.USD == 0 {
				t.Errorf("spent %+v", spent)
			}
			if with.SearchUSD <= 0 || with.Relative <= without.Relative || without.SearchUSD != 0 {
				t.Errorf("cost %v without searching, %v with, of it %v USD", without.Relative, with.Relative, with.SearchUSD)
			}
			for _, q := range server.Requests() {
				if q.Model != strings.Contains(said(q), "the tool thresh_recall") {
					t.Error("the tool is offered to others, or its prompt is")
				}
				if q.Model && !strings.Contains(string(q.Body), `instead: the ID of a mark`) {
					t.Errorf("another schema: %.300s", q.Body)
				}
			}
			// Nothing is asked again.
			if _, spent, err = b.Ask(t.Context(), m, b.Variants(), sessions); err != nil || spent.Calls != 0 {
				t.Errorf("once more: %d calls, %v", spent.Calls, err)
			}
		})
	}
}

var idIn = regexp.MustCompile(`, id (\S+)\]`)

// What a model does wrong is said to it, and it never goes on for ever.
func TestWhatAModelDoesWrongIsSaidToIt(t *testing.T) {
	t.Parallel()
	h := host(t)
	const questions = 12
	one := recalls(map[string]any{"query": `"value-a-0."`})
	many := slices.Repeat([]modelapi.Call{one}, 3*questions)
	does := func(calls ...modelapi.Call) modelapi.Reply { return modelapi.Reply{Calls: calls} }
	tooLong := modelapi.Fail(400)
	tooLong.Message = "prompt is too long: 9 tokens > 8 maximum"
	for name, tt := range map[string]struct {
		replies  []modelapi.Reply // to the requests for a sheet; to those behind them it answers
		says     []string         // the last message before the answer
		fails    string           // if it does not answer
		requests int              // for a sheet
		searches float64
	}{
		"an unknown tool": {[]modelapi.Reply{does(modelapi.Call{Name: "bash", Arguments: `{"command":"ls"}`})},
			[]string{`unknown tool "bash": there is only thresh_recall`}, "", 2, 0},
		"no JSON": {[]modelapi.Reply{does(modelapi.Call{Name: mcp.Tool, Arguments: `{"query`})},
			[]string{"the arguments are no object"}, "", 2, 0},
		"no words": {[]modelapi.Reply{does(recalls(nil), recalls(map[string]any{"query": "=>"}))},
			[]string{`give "query"`, "no letter and no digit"}, "", 2, 0},
		"an id": {[]modelapi.Reply{does(one), does(recalls(map[string]any{"id": "ID", "lines": "1"}),
			recalls(map[string]any{"id": "x"}))},
			[]string{"lines 1-1 of 2", `nothing in this conversation has the id "x"`}, "", 3, 2},
		"one too many": {[]modelapi.Reply{does(many[:30]...), does(many[:7]...)},
			[]string{"lines 1-1 of 2", "no search is left"}, "", 3, 36},
		"it does not stop": {slices.Repeat([]modelapi.Reply{does(many...)}, 9), nil, "it goes on to call tools", 3, 0},
		"no text at first": {[]modelapi.Reply{{Text: " "}}, []string{"Your answer had no text."}, "", 2, 0},
		"no text":          {slices.Repeat([]modelapi.Reply{{}}, 9), nil, "it is empty", 4, 0},
		"too much for its window": {[]modelapi.Reply{does(one), tooLong},
			[]string{"not shown: the conversation is too long for it"}, "", 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options("top-down-truncation")
			o.Sessions = []compare.Session{session("a")}
			b, sessions := planSearch(t, h, t.TempDir(), o, true)
			var mu sync.Mutex
			requests, last := map[string]int{}, map[string]string{} // by sheet
			m, server := modelThat(t, config.KindAnthropic, func(r *modelapi.Request) modelapi.Reply {
				all := r.Asked().Messages
				if !r.Model {
					return modelapi.Reply{Text: honest(r.Number, said(r))}
				}
				mu.Lock()
				defer mu.Unlock()
				sheet := fmt.Sprint(askedIn.FindAllString(all[0].Text, -1))
				n := requests[sheet]
				requests[sheet]++
				last[sheet] = all[len(all)-1].Text
				if n >= len(tt.replies) {
					return modelapi.Reply{Text: honest(r.Number, said(r))}
				}
				reply := tt.replies[n]
				reply.Calls = slices.Clone(reply.Calls)
				if id := idIn.FindStringSubmatch(last[sheet]); id != nil {
					for i := range reply.Calls {
						reply.Calls[i].Arguments = strings.ReplaceAll(reply.Calls[i].Arguments, "ID", id[1])
					}
				}
				return reply
			})
			st, spent, err := b.Ask(t.Context(), m, b.Variants(), sessions)
			if err != nil || len(server.Refused()) > 0 || len(requests) == 0 {
				t.Fatal(err, server.Refused(), len(requests))
			}
			for sheet, n := range requests {
				if n != tt.requests {
					t.Errorf("%d requests for a sheet", n)
				}
				for _, want := range tt.says {
					if !strings.Contains(last[sheet], want) {
						t.Errorf("it was told: %.400s", last[sheet])
					}
				}
			}
			if tt.fails != "" {
				if len(spent.Failed) != len(requests) || !strings.Contains(spent.Failed[0], tt.fails) {
					t.Errorf("failed: %q", spent.Failed)
				}
				return
			}
			r := row(t, st.Report(), "top-down-truncation + search")
			if len(spent.Failed) > 0 || math.Abs(r.Searches.Mean*questions-tt.searches) > 1e-6 {
				t.Errorf("%v searches for a question, failed: %q", r.Searches.Mean, spent.Failed)
			}
		})
	}
}
