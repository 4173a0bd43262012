package contract

// What a host does beside its sessions: lists, watches, plugins, ids, and messages alone.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk/content"
)

func listed(t *test) {
	for _, id := range []string{"c", "a", "b"} {
		t.add(t.open(api.OpenRequest{ID: id}), say(content.Human, id))
	}
	t.open(api.OpenRequest{ID: "d"}) // nothing is stored of it
	var pages []string
	for after, more := "", true; more; {
		page, err := t.Host.Sessions(t.ctx, api.ListRequest{After: after, Limit: 3})
		t.no(err)
		ids := ""
		for _, s := range page.Sessions {
			after = s.Session
			ids += after
			if (s.Entries == 1) != (after != "d") {
				t.Errorf("%+v", s)
			}
			if _, err := t.open(api.OpenRequest{ID: after + "'"}).State(t.ctx); err != nil {
				t.Error(err)
			}
			t.no(t.Host.Delete(t.ctx, api.Of{Session: after + "'"}))
		}
		pages, more = append(pages, ids), page.More
	}
	t.same("pages", pages, []string{"abc", "d"})
	all, err := t.Host.Sessions(t.ctx, api.ListRequest{Limit: math.MaxInt})
	t.no(err)
	_, err = t.Host.Sessions(t.ctx, api.ListRequest{Limit: -1})
	if e := t.refused(err); len(all.Sessions) != 4 || e.Kind != api.KindRequest || e.Field != "limit" {
		t.Errorf("%d sessions, and a limit below 0: %+v", len(all.Sessions), e)
	}
	t.no(t.Host.Delete(t.ctx, api.Of{Session: "a"}))
	e := t.refused(t.Host.Delete(t.ctx, api.Of{Session: "a"}))
	if e.Kind != api.KindSession {
		t.Errorf("%+v", e)
	}
}

func reopened(t *test) {
	s := t.open(api.OpenRequest{ID: "s", Settings: map[string]any{"compression.threshold": 0.5}})
	t.add(s, long(3)...)
	_, err := s.SetSystem(t.ctx, api.SystemRequest{System: json.RawMessage(`"x"`)})
	t.no(err)
	before, err := s.State(t.ctx)
	t.no(err)
	t.no(s.Close(t.ctx))
	s = t.open(api.OpenRequest{ID: "s"})
	after, err := s.State(t.ctx)
	t.no(err)
	t.same("the state", after, before)
	ready, err := s.Prepare(t.ctx, api.PrepareRequest{})
	t.no(err)
	t.same("the threshold", ready.Outcome.Limits.Threshold, 0.5)
}

func watched(t *test) {
	s := t.open(api.OpenRequest{ID: "s"})
	other := t.open(api.OpenRequest{ID: "other"})
	var seen []string
	for e, err := range t.Host.Watch(t.ctx, api.WatchRequest{Session: "s"}) {
		t.no(err)
		switch {
		case e.Session == "":
			t.add(s, long(2)...)
			_, err = other.Prepare(t.ctx, api.PrepareRequest{})
			t.no(err)
			_, err = s.Prepare(t.ctx, api.PrepareRequest{PendingTokens: 7})
			t.no(err)
			_, err = s.Compress(t.ctx)
			t.no(err)
			_, err = s.Prepare(t.ctx, api.PrepareRequest{PendingTokens: 5000})
			t.refused(err)
			continue
		case e.Error != nil:
			seen = append(seen, string(e.Error.Kind))
		default:
			seen = append(seen, fmt.Sprint(e.Session, " ", e.Method, " ", e.Pending, " ", e.Tokens > 0))
		}
		if len(seen) == 3 {
			break
		}
	}
	t.same("turns", seen, []string{"s prepare 7 true", "s compress 0 true", "overflow"})
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var last error
	for _, err := range t.Host.Watch(ctx, api.WatchRequest{}) {
		last = err
		cancel()
	}
	if e := t.refused(last); e.Kind != api.KindCanceled {
		t.Errorf("a watch that was given up ends with %v", last)
	}
}

func host(t *test) {
	info, err := t.Host.Info(t.ctx)
	t.no(err)
	if info.Name != "thresh" || !slices.Contains(info.Strategies, "distill") {
		t.Errorf("%+v", info)
	}
	counted, err := t.Host.Count(t.ctx, api.CountRequest{Entries: long(2)})
	t.no(err)
	added := t.add(t.open(api.OpenRequest{}), long(2)...)
	t.same("counted", counted, api.CountAnswer{Tokens: added.Tokens, Each: []int{added.Tokens / 2, added.Tokens / 2}})
	found, err := t.Host.Plugins(t.ctx)
	t.no(err)
	if !slices.ContainsFunc(found.Plugins, func(p outcome.Plugin) bool { return p.Name == "distill" }) {
		t.Errorf("%+v", found)
	}
	reset, err := t.Host.ResetPlugin(t.ctx, api.ResetRequest{Name: "nosuch"})
	t.no(err)
	t.same("a plugin that never ran", reset.Reset, false)
	_, err = t.Host.LockPlugins(t.ctx, api.LockRequest{Names: []string{"nosuch"}})
	if e := t.refused(err); e.Kind != api.KindSetting && e.Kind != api.KindStrategy {
		t.Errorf("%+v", e)
	}
}

// An id that is not UTF-8 would be another one in JSON: a Go program does not have it either.
func named(t *test) {
	for _, id := range []string{"a\xff", "a\nb", strings.Repeat("x", 513)} {
		_, err := t.Host.Open(t.ctx, api.OpenRequest{ID: id})
		for field, err := range map[string]error{"id": err, "session": t.Host.Delete(t.ctx, api.Of{Session: id})} {
			if e := t.refused(err); e.Field != field || e.Kind != api.KindSession && e.Kind != api.KindRequest {
				t.Errorf("%q: %+v", id, e)
			}
		}
	}
}

func alone(t *test) {
	messages := []json.RawMessage{json.RawMessage(`{"role":"user","content":"read them all"}`)}
	for i := range 12 {
		messages = append(messages, fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d",`+
			`"type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%q}`, i, strings.Repeat("text ", 200)))
	}
	made, err := t.Alone.Compress(t.ctx, api.CompressMessages{Messages: messages, Model: "gpt-5"})
	t.no(err)
	i := slices.IndexFunc(made.Removed, func(r api.Removed) bool { return r.Kind == content.KindToolResponse })
	if i < 0 || made.Format != api.OpenAIChat || made.TokensAfter >= made.TokensBefore {
		t.Fatalf("%+v", made)
	}
	part, err := t.Alone.Retrieve(t.ctx, api.RetrieveRequest{ID: made.Removed[i].ID})
	t.no(err)
	t.same("a removed result", []any{part.Tool, len(part.Content)}, []any{"read", 1000})
	_, err = t.Alone.Retrieve(t.ctx, api.RetrieveRequest{ID: strings.Repeat("1", 24)})
	if e := t.refused(err); e.Kind != api.KindEntry {
		t.Errorf("%+v", e)
	}
}
