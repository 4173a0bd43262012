package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// talk is an agent of a session whose conversation has about so many tokens, in exchanges of calls.
func talk(p *standing, f form, tokens int) *agent {
	items := []rawItem{f.user("Fix it.")}
	for i := 0; len(joined(items)) < 4*tokens; i++ {
		calls := []call{{fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":"make %d"}`, i)}}
		items = append(items, raw(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"bash","input":`+
			`{"command":"make %d"}}]}`, i, i))
		items = append(items, f.results(calls, []string{strings.Repeat(fmt.Sprintf("line %d of make is well\n", i), 100)})...)
	}
	return &agent{form: f, base: p.url, items: items}
}

// refusing answers with an error.
func refusing(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const tooLong = `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 45000 tokens > 12000 maximum"}}`

// What an answer to one conversation says takes nothing from another, unless a second one says the same of the same
// provider. An answer that is not about tokens takes nothing from any.
func TestARefusalInOneConversation(t *testing.T) {
	const prose = `{"type":"error","error":{"type":"invalid_request_error","message":"tools.0: invalid: the option that sets ` +
		`the context size (default 8192) of the local model"}}`
	large := `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`
	for name, c := range map[string]struct {
		answers []func(http.ResponseWriter) // to conversation A, B, …
		cut     bool                        // the last conversation is made smaller
	}{
		"about bytes":        {[]func(http.ResponseWriter){refusing(413, large), nil}, false},
		"about bytes, again": {[]func(http.ResponseWriter){refusing(413, large), refusing(413, large), nil}, false},
		"prose":              {[]func(http.ResponseWriter){refusing(400, prose), refusing(400, prose), nil}, false},
		"about tokens, once": {[]func(http.ResponseWriter){refusing(400, tooLong), nil}, false},
		"confirmed":          {[]func(http.ResponseWriter){refusing(400, tooLong), refusing(400, tooLong), nil}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := newEcho(t)
			usual := up.answer
			p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation"})
			for i, answer := range c.answers {
				if up.answer = usual; answer != nil {
					up.answer = answer
				}
				up.take()
				a := talk(p, messagesForm{fmt.Sprint("s", i)}, 40_000)
				a.ask(t)
				whole := up.take()[0] == brief(a.sent[0])
				if last := i == len(c.answers)-1; whole == (last && c.cut) {
					t.Errorf("conversation %d: sent as it came: %v", i, whole)
				}
			}
		})
	}
}

// A limit is of the provider that told it.
func TestALimitIsOfItsUpstream(t *testing.T) {
	one, two := newEcho(t), newEcho(t)
	one.answer = refusing(400, tooLong)
	p := stand(t, one.URL, map[string]any{"compression.strategy": "top-down-truncation",
		"profiles.other.proxy.upstreams.anthropic": two.URL})
	for i := range 2 {
		talk(p, messagesForm{fmt.Sprint("s", i)}, 40_000).ask(t)
	}
	a := talk(p, messagesForm{"s3"}, 40_000)
	a.base += "/p/other"
	a.ask(t)
	if got := two.take(); len(got) != 1 || got[0] != brief(a.sent[0]) {
		t.Errorf("%q was sent to the other one", got)
	}
}

// A request that is accepted shows that the window is no smaller: a limit that was told before is none, and what is
// believed of the model rises.
func TestAnAcceptedRequestRaisesTheLimit(t *testing.T) {
	up := newEcho(t)
	reports := func(tokens int) func(http.ResponseWriter) {
		return refusing(200, fmt.Sprintf(`{"usage":{"input_tokens":%d}}`, tokens))
	}
	p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation"})
	a := talk(p, messagesForm{"a"}, 40_000)
	up.answer = refusing(400, tooLong)
	a.ask(t)
	up.answer = reports(45_000)
	a.ask(t) // sent smaller, and counted as more than the limit
	up.take()
	a.items = append(a.items, raw(`{"role":"assistant","content":"Yes."}`), a.form.user("Go on."))
	a.ask(t)
	if cut := p.proxy.Totals(); len(up.take()) != 1 || cut.Failed > 0 {
		t.Fatalf("%+v", cut)
	}
	b := talk(p, messagesForm{"b"}, 1000)
	up.answer = reports(600_000)
	b.ask(t)
	b.ask(t)
	up.take()
	c := talk(p, messagesForm{"c"}, 220_000)
	c.ask(t)
	if got := up.take(); got[0] != brief(c.sent[0]) {
		t.Errorf("600,000 tokens were accepted, and of 220,000 %.20s were sent, not %d", got[0], len(c.sent[0]))
	}
}

// Models with a window of a million tokens have it without a header, and others do not.
func TestWindowsOfModels(t *testing.T) {
	for model, whole := range map[string]bool{"claude-opus-4-6": true, "claude-sonnet-5": true, "claude-sonnet-4-5": false} {
		t.Run(model, func(t *testing.T) {
			up := newEcho(t)
			p := stand(t, up.URL, map[string]any{"compression.strategy": "top-down-truncation", "model.priceList": "none"})
			a := talk(p, modelForm{messagesForm{"s"}, []string{model}, new(int)}, 250_000)
			a.ask(t)
			if got := up.take(); (got[0] == brief(a.sent[0])) != whole {
				t.Errorf("of %d bytes %.20s were sent; %+v", len(a.sent[0]), got[0], p.proxy.Totals())
			}
		})
	}
}
