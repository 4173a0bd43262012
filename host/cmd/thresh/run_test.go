package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/testkit/gen"
	"github.com/thresh-dev/thresh/internal/testkit/race"
)

func TestASessionFromOpenToClose(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	s := a.open("", object{"workspace.root": "/w", "compression.strategy": "high-density"})
	in := object{"session": s}
	var added struct{ Revision, Tokens int }
	a.call("history.add", with(in, object{"entries": parseJSON[any](t, pruning)}), &added)
	if added.Revision != 1 || added.Tokens <= 0 {
		t.Errorf("history.add: %+v", added)
	}
	p := a.prepare(s)
	if len(p.History) != 5 || p.Tokens >= added.Tokens || p.Revision <= added.Revision {
		t.Errorf("window.prepare: %d entries, %d of %d tokens, revision %d", len(p.History), p.Tokens, added.Tokens,
			p.Revision)
	}
	if o := p.Outcome["optimize"].(object); p.Outcome["strategy"] != "high-density" || o["ran"] != true ||
		o["removed"] != 1.0 || o["replaced"] != 2.0 {
		t.Errorf("outcome: %v", p.Outcome)
	}
	var now prepared
	a.call("history.get", in, &now)
	if diff := cmp.Diff(p.History, now.History); diff != "" || now.Tokens != p.Tokens || now.Revision != p.Revision {
		t.Errorf("history.get: %d tokens, revision %d:\n%s", now.Tokens, now.Revision, diff)
	}
	a.call("usage.report", with(in, object{"promptTokens": 20_000}), nil)
	if p := a.prepare(s); p.Outcome["projected"] != 20_000.0 {
		t.Errorf("projected %v after a report of 20,000 tokens", p.Outcome["projected"])
	}
	a.call("session.set", with(in, object{"key": "compression.strategy", "value": "top-down-truncation"}), nil)
	if p := a.prepare(s); p.Outcome["strategy"] != "top-down-truncation" {
		t.Errorf("after session.set: %v", p.Outcome["strategy"])
	}
	a.call("session.close", in, nil)
	a.refused(-32000, "history.get", in, "not open")
	if got := a.open(s, nil); got != s {
		t.Errorf("the id of a closed session: %q", got)
	}
	a.end()
}

// TestPipelinedRequestsTakeEffectInOrder sends everything before it reads anything.
func TestPipelinedRequestsTakeEffectInOrder(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "gate").serve()
	type sent struct{ open, add, prepare, get, reopen, again int }
	var all []sent
	const sessions = 8
	for i := range sessions {
		in := object{"session": fmt.Sprint("s", i)}
		open := object{"id": in["session"], "settings": object{"compression.strategy": "gate"}}
		n := sent{open: a.send("session.open", open)}
		for k := range 10 {
			n.add = a.send("history.add",
				with(in, object{"entries": []object{says("human", fmt.Sprint(i, k)), says("ai", "chaff")}}))
		}
		n.prepare = a.send("window.prepare", in)
		n.get = a.send("history.get", in)
		a.send("session.close", in)
		n.reopen = a.send("session.open", open)
		n.again = a.send("history.get", in)
		all = append(all, n)
	}
	for i, n := range all {
		var want []string
		for k := range 10 {
			want = append(want, fmt.Sprint(i, k))
		}
		var ready, now, again prepared
		a.result(n.open, nil)
		a.result(n.prepare, &ready)
		if diff := cmp.Diff(want, texts(ready.History)); diff != "" {
			t.Errorf("session %d prepared:\n%s", i, diff)
		}
		a.result(n.get, &now)
		if diff := cmp.Diff(ready.History, now.History); diff != "" {
			t.Errorf("session %d: history.get after window.prepare:\n%s", i, diff)
		}
		a.result(n.reopen, nil)
		if a.result(n.again, &again); len(again.History) != 0 {
			t.Errorf("session %d: a new session has %d entries", i, len(again.History))
		}
	}
	a.end()
}

func TestSettingsAreOfTheirSessionOnly(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.open("small", object{"model.contextLimit": 2000, "compression.strategy": "top-down-truncation",
		"compression.threshold": "0.5"})
	a.open("large", nil)
	for _, s := range []string{"small", "large"} {
		a.call("history.add", object{"session": s,
			"entries": parseJSON[any](t, "["+strings.ReplaceAll(strings.TrimSpace(turns(20)), "\n", ",")+"]")}, nil)
	}
	if p := a.prepare("small"); p.Tokens > 1000 || p.Outcome["compress"].(object)["kind"] != "applied" {
		t.Errorf("small: %d tokens, %v", p.Tokens, p.Outcome["compress"])
	}
	if p := a.prepare("large"); len(p.History) != 40 {
		t.Errorf("large: %d entries", len(p.History))
	}
	a.end()
}

func TestLongLinesThatAreNoRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		code int
		want string
	}{
		"a megabyte of {":   {strings.Repeat("{", 1<<20), -32700, "byte"},
		"a megabyte of [":   {strings.Repeat("[", 1<<20), -32600, "one request a line"},
		"a megabyte of 'a'": {strings.Repeat("a", 1<<20), -32700, "byte"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newPlace(t).serve()
			a.raw("\n  \r\n" + c.line + "\n")
			a.refusal(a.waitFor("null"), c.code, c.want)
			a.open("s", nil)
			a.end()
		})
	}
}

func TestANotificationGetsNoReply(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.open("s", nil)
	a.raw(`{"jsonrpc":"2.0","method":"history.add","params":{"session":"s","entries":[{"speaker":"human",` +
		`"blocks":[{"type":"text","text":"quiet"}]}]}}` + "\n")
	a.raw(`{"jsonrpc":"2.0","method":"window.prepare","params":{"session":"s"}}` + "\n")
	a.raw(`{"jsonrpc":"2.0","method":"nosuch"}` + "\n")
	var now prepared
	a.call("history.get", object{"session": "s"}, &now)
	if diff := cmp.Diff([]string{"quiet"}, texts(now.History)); diff != "" {
		t.Error(diff)
	}
	a.end()
	if diff := cmp.Diff([]string{"1", "2"}, a.answers()); diff != "" {
		t.Errorf("replies:\n%s", diff)
	}
}

// TestForeignBlocksAreRefused: they would be in the history, and yet no call of theirs would be paired.
func TestForeignBlocksAreRefused(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.open("s", nil)
	for name, c := range map[string]struct {
		block string
		want  []string
	}{
		"Anthropic's call": {`{"type":"tool_use","id":"1","name":"x","input":{}}`,
			[]string{`"tool_use"`, `"tool_call"`}},
		"Anthropic's result": {`{"type":"tool_result","tool_use_id":"1","content":"y"}`,
			[]string{`"tool_result"`, `"tool_response"`}},
		"OpenAI's call": {`{"type":"function_call","call_id":"1"}`, []string{`"tool_call"`}},
		"misspelt":      {`{"type":"txt","text":"x"}`, []string{`"txt"`, `"text"`}},
		"anything else": {`{"type":"hologram"}`, []string{`"hologram"`, "tool_call", "media"}},
	} {
		entry := object{"speaker": "ai", "blocks": []any{says("ai", "x")["blocks"].([]any)[0],
			parseJSON[any](t, c.block)}}
		params := object{"session": "s", "entries": []object{says("human", "x"), entry}}
		e := a.refused(-32000, "history.add", params, append(c.want, "entry 1", "block 1", "opaque")...)
		if e.Data.Kind != "entry" {
			t.Errorf("%s: kind %q", name, e.Data.Kind)
		}
		a.call("history.add", with(params, object{"opaque": true}), nil)
	}
	problems := map[any]any{}
	for _, p := range a.prepare("s").Outcome["problems"].([]any) {
		problems[p.(object)["entry"]] = p.(object)["kind"].(string) + " " + p.(object)["callId"].(string)
	}
	kinds := map[string]int{}
	for _, p := range problems {
		kinds[p.(string)]++
	}
	if diff := cmp.Diff(map[string]int{"opaque-call 1": 3}, kinds); diff != "" {
		t.Error(diff)
	}
	a.end()
}

func TestOrphansAreWithheldAndNamed(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.open("s", nil)
	entries := parseJSON[any](t, `[
		{"speaker":"human","blocks":[{"type":"text","text":"go"}]},
		{"speaker":"tool","blocks":[{"type":"tool_response","callId":"ghost","toolName":"x","result":"y"}]},
		{"speaker":"ai","blocks":[{"type":"tool_call","id":"1","name":"x","parameters":{}}]},
		{"speaker":"human","blocks":[{"type":"text","text":"never mind"}]}]`)
	a.call("history.add", object{"session": "s", "entries": entries}, nil)
	p := a.prepare("s")
	var kinds []string
	for _, problem := range p.Outcome["problems"].([]any) {
		kinds = append(kinds, problem.(object)["kind"].(string)+" "+problem.(object)["callId"].(string))
	}
	if diff := cmp.Diff([]string{"orphaned-response ghost", "unanswered-call 1"}, kinds); diff != "" {
		t.Error(diff)
	}
	var speakers []string
	for _, e := range p.History {
		speakers = append(speakers, e["speaker"].(string))
	}
	if diff := cmp.Diff([]string{"human", "ai", "tool", "human"}, speakers); diff != "" {
		t.Errorf("sent:\n%s", diff)
	}
	a.end()
}

func TestAnOverflowCarriesTheHistoryAsItIs(t *testing.T) {
	t.Parallel()
	a := newPlace(t).serve()
	a.open("s", object{"model.contextLimit": 50})
	a.call("history.add", object{"session": "s", "entries": []object{says("human", strings.Repeat("word ", 200))}}, nil)
	e := a.refused(-32000, "window.prepare", object{"session": "s", "pendingTokens": 7}, "over the context limit")
	if e.Data.Kind != "overflow" || e.Data.MissingTokens < 100 || e.Data.Prepared == nil ||
		len(e.Data.Prepared.History) != 1 {
		t.Errorf("data: %+v", e.Data)
	}
	a.end()
}

// slowPrepare begins a prepare that goes on until release is called. The gate strategy is working when it returns.
func slowPrepare(a *agent, session string) (id int, release func()) {
	a.t.Helper()
	if err := syscall.Mkfifo(a.path("work", "gate"), 0o600); err != nil {
		a.t.Fatal(err)
	}
	id = a.send("window.prepare", object{"session": session})
	pipe, err := os.OpenFile(a.path("work", "gate"), os.O_WRONLY, 0) // waits for its reader
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = pipe.Close() })
	return id, func() {
		_ = os.Remove(a.path("work", "gate"))
		_ = pipe.Close()
	}
}

func TestWhatIsAddedDuringAPrepareIsKept(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	a.open("s", nil)
	a.open("other", object{"workspace.root": "/"})
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "first"), says("ai", "chaff")}}, nil)
	id, release := slowPrepare(a, "s")

	late := object{"session": "s", "entries": []object{says("human", "late")}}
	a.call("history.add", late, nil) // does not wait
	a.prepare("other")               // nor do other sessions
	if slices.Contains(a.answers(), fmt.Sprint(id)) {
		t.Fatal("the prepare did not wait for its strategy")
	}
	release()
	a.result(id, nil)
	var now prepared
	a.call("history.get", object{"session": "s"}, &now)
	if diff := cmp.Diff([]string{"first", "late"}, texts(now.History)); diff != "" {
		t.Error(diff)
	}
	a.end()
}

// TestAPrepareSeesWhatWasSentBeforeIt, though it begins after a later addition was acknowledged.
func TestAPrepareSeesWhatWasSentBeforeIt(t *testing.T) {
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	a.open("s", nil)
	in := object{"session": "s"}
	a.call("history.add", with(in, object{"entries": []object{says("human", "first"), says("ai", "chaff")}}), nil)
	one, release := slowPrepare(a, "s")
	two := a.send("window.prepare", in)
	get := a.send("history.get", in)
	set := a.send("session.set", with(in, object{"key": "compression.threshold", "value": 0.5}))
	a.call("history.add", with(in, object{"entries": []object{says("human", "late"), says("ai", "chaff")}}), nil)
	three := a.send("window.prepare", in)
	for _, id := range []int{one, two, get, set, three} {
		if slices.Contains(a.answers(), fmt.Sprint(id)) {
			t.Fatalf("request %d did not wait for the strategy", id)
		}
	}
	release()
	for id, want := range map[int][]string{one: {"first"}, two: {"first"}, get: {"first"}, three: {"first", "late"}} {
		var got prepared
		a.result(id, &got)
		if diff := cmp.Diff(want, texts(got.History)); diff != "" {
			t.Errorf("request %d:\n%s", id, diff)
		}
	}
	a.end()
}

func TestCancelEndsAPrepare(t *testing.T) {
	race.Watch(t)
	t.Parallel()
	a := newPlace(t, "gate").serve("--strategy", "gate")
	a.open("s", nil)
	in := object{"session": "s"}
	a.call("history.add", with(in, object{"entries": []object{says("human", "first"), says("ai", "chaff")}}), nil)
	one, _ := slowPrepare(a, "s")
	two := a.send("window.prepare", in) // waits for the first
	for _, id := range []int{two, one} {
		var r struct{ Canceled bool }
		if a.call("cancel", object{"id": id}, &r); !r.Canceled {
			t.Errorf("request %d was not in progress", id)
		}
	}
	for _, id := range []int{one, two} {
		e := a.refusal(a.wait(id), -32000)
		if e.Data.Kind != "canceled" || e.Data.Prepared == nil || len(e.Data.Prepared.History) != 2 {
			t.Errorf("request %d: %+v", id, e)
		}
	}
	a.call("history.get", in, nil) // the session goes on
	a.end()
}

func TestStandardOutputHoldsMessagesOnly(t *testing.T) {
	t.Parallel()
	// The gate strategy writes to its standard output, a forged reply among it; agent.read sees all that thresh writes.
	a := newPlace(t, "gate").serve("--strategy", "gate", "--log-level", "trace")
	a.open("s", nil)
	a.call("history.add", object{"session": "s", "entries": []object{says("human", "x")}}, nil)
	a.prepare("s")
	a.end()
	if diff := cmp.Diff([]string{"1", "2", "3"}, a.answers()); diff != "" {
		t.Errorf("replies:\n%s", diff)
	}
	if !strings.Contains(a.stderr.String(), "[DEBUG]") {
		t.Error("no log on standard error")
	}
}

// An agent that says what it has is sent what follows. Whatever the strategy rewrote, what it holds in the end is what
// a prepare without "since" gives.
func TestPrepareSinceARevisionSendsWhatFollows(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"", "anthropic", "openai-chat", "openai-responses"} {
		t.Run("format "+format, func(t *testing.T) {
			t.Parallel()
			a := newPlace(t).serve()
			a.call("session.open", object{"id": "s"}, nil)
			type result struct {
				Keep              *int
				History, Messages []json.RawMessage
				Revision          int
			}
			params := object{"session": "s"}
			if format != "" {
				params["format"] = format
			}
			same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
			var kept []json.RawMessage
			saved := 0
			for i, e := range gen.Session(60, 2) {
				a.call("history.add", object{"session": "s", "entries": []json.RawMessage{e.AppendJSON(nil)},
					"opaque": true}, nil)
				if i%3 > 0 || i == 0 {
					continue
				}
				var now, all result
				a.call("window.prepare", params, &now)
				if list := append(now.History, now.Messages...); params["since"] == nil {
					kept = list
				} else {
					kept = append(kept[:*now.Keep:*now.Keep], list...)
					saved += *now.Keep
				}
				delete(params, "since")
				a.call("window.prepare", params, &all)
				whole := append(all.History, all.Messages...)
				if !slices.EqualFunc(whole, kept, same) || all.Keep != nil {
					t.Fatalf("after entry %d the agent has something else:\n%s", i, cmp.Diff(whole, kept))
				}
				params["since"] = all.Revision
			}
			if saved < 100 {
				t.Errorf("only %d entries were not sent again", saved)
			}
			var stale result
			params["since"] = 1
			a.call("window.prepare", params, &stale)
			if n := len(append(stale.History, stale.Messages...)); *stale.Keep != 0 || n < len(kept) {
				t.Errorf("since a revision that is not the last: %d kept, %d sent", *stale.Keep, n)
			}
			a.end()
		})
	}
}
