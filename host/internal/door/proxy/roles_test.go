package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/full"
	"github.com/thresh-dev/thresh/internal/testkit/race"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
	"github.com/thresh-dev/thresh/sdk/content"
)

// speech is how an API whose roles alternate writes what was said. result is a message of its own if alone is set.
type speech struct {
	form                form
	list, model         string // a message's member with its parts, and the role of the model
	text, call, result  func(b content.Block) json.RawMessage
	alone, callsInPlace bool
}

var speeches = map[string]speech{
	"messages": {form: messagesForm{}, list: "content", model: "assistant", callsInPlace: true,
		text: textPart,
		call: func(b content.Block) json.RawMessage {
			c := b.(content.ToolCall)
			return raw(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quoted(c.ID), quoted(c.Name), object(c.Parameters))
		},
		result: func(b content.Block) json.RawMessage {
			r := b.(content.ToolResponse)
			return raw(`{"type":"tool_result","tool_use_id":%s,"content":%s}`, quoted(r.CallID), quoted(r.ResultText()))
		}},
	"chat": {form: chatForm{}, list: "content", model: "assistant", alone: true,
		text: textPart,
		call: func(b content.Block) json.RawMessage {
			c := b.(content.ToolCall)
			return raw(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quoted(c.ID), quoted(c.Name),
				quoted(string(c.Parameters)))
		},
		result: func(b content.Block) json.RawMessage {
			r := b.(content.ToolResponse)
			return raw(`{"role":"tool","tool_call_id":%s,"content":%s}`, quoted(r.CallID), quoted(r.ResultText()))
		}},
	"gemini": {form: geminiForm{}, list: "parts", model: "model", callsInPlace: true,
		text: func(b content.Block) json.RawMessage { return raw(`{"text":%s}`, quoted(b.(content.Text).Text)) },
		call: func(b content.Block) json.RawMessage {
			c := b.(content.ToolCall)
			return raw(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, quoted(c.ID), quoted(c.Name), object(c.Parameters))
		},
		result: func(b content.Block) json.RawMessage {
			r := b.(content.ToolResponse)
			return raw(`{"functionResponse":{"id":%s,"name":%s,"response":{"output":%s}}}`, quoted(r.CallID),
				quoted(r.ToolName), quoted(r.ResultText()))
		}},
}

func textPart(b content.Block) json.RawMessage {
	return raw(`{"type":"text","text":%s}`, quoted(b.(content.Text).Text))
}

func object(parameters json.RawMessage) json.RawMessage {
	if !strings.HasPrefix(string(parameters), "{") {
		return raw(`{"input":%s}`, quoted(string(parameters)))
	}
	return parameters
}

// said is a message, or a result that is one.
type said struct {
	role         string
	parts, calls []json.RawMessage
	whole        json.RawMessage
}

// add adds an entry to what was said so far, to the last message if it has the entry's role.
func (s speech) add(all []said, entry content.Content) []said {
	m := said{role: "user"}
	if entry.Speaker == content.AI {
		m.role = s.model
	}
	for _, b := range entry.Blocks {
		switch r := b.(type) {
		case content.Text:
			m.parts = append(m.parts, s.text(b))
		case content.ToolCall:
			m.calls = append(m.calls, s.call(b))
		case content.ToolResponse:
			if s.alone {
				all = append(all, said{whole: s.result(r)})
				continue
			}
			m.parts = append(m.parts, s.result(r))
		}
	}
	if n := len(all); n > 0 && all[n-1].role == m.role {
		all[n-1].parts, all[n-1].calls = append(all[n-1].parts, m.parts...), append(all[n-1].calls, m.calls...)
	} else if len(m.parts)+len(m.calls) > 0 {
		all = append(all, m)
	}
	return all
}

// items writes what was said.
func (s speech) items(all []said) (items []json.RawMessage) {
	for _, m := range all {
		switch {
		case m.whole != nil:
			items = append(items, m.whole)
		case s.callsInPlace:
			items = append(items, raw(`{"role":%q,%q:[%s]}`, m.role, s.list, joined(append(m.parts[:len(m.parts):len(m.parts)],
				m.calls...))))
		case len(m.calls) == 0:
			items = append(items, raw(`{"role":%q,%q:[%s]}`, m.role, s.list, joined(m.parts)))
		case len(m.parts) == 0:
			items = append(items, raw(`{"role":%q,"content":null,"tool_calls":[%s]}`, m.role, joined(m.calls)))
		default:
			items = append(items, raw(`{"role":%q,"content":[%s],"tool_calls":[%s]}`, m.role, joined(m.parts), joined(m.calls)))
		}
	}
	return items
}

// inARow is the position of the first message that follows another of the same role, results apart; -1 for none.
func inARow(t *testing.T, body []byte) int {
	var request map[string]json.RawMessage
	var messages []struct{ Role string }
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	list := request["messages"]
	if list == nil {
		list = request["contents"]
	}
	if err := json.Unmarshal(list, &messages); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(messages); i++ {
		if messages[i].Role == messages[i-1].Role && messages[i].Role != "tool" {
			return i
		}
	}
	return -1
}

// Recorded sessions are sent as their agents would send them, request by request. What alternates when it comes,
// alternates when it goes: no two messages of the model, or of a person, follow each other.
func TestRolesOfRecordedRequestsAlternate(t *testing.T) {
	race.Skip(t)
	files, err := filepath.Glob(filepath.Join(repo.Shared(t, "sessions", "normalized"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no sessions: ", err)
	}
	var mu sync.Mutex
	requests, edited, twice := 0, 0, 0
	t.Cleanup(func() {
		t.Logf("%d requests, %d edited, %d with two messages of one role in a row", requests, edited, twice)
	})
	for i, file := range files {
		if i%full.Or(6, 1) != 0 {
			continue
		}
		strategy := []string{"distill", "high-density"}[i/full.Or(6, 1)%2]
		for name, s := range speeches {
			t.Run(filepath.Base(file)+"/"+name+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				sent, changed, bad := playRoles(t, file, s, strategy)
				mu.Lock()
				defer mu.Unlock()
				requests, edited, twice = requests+sent, edited+changed, twice+bad
			})
		}
	}
}

// playRoles sends a session. It returns how many requests were sent, how many of them with edits, and how many had two
// messages of one role in a row though the client's had not.
func playRoles(t *testing.T, file string, s speech, strategy string) (requests, edited, bad int) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var session struct{ History []content.Content }
	if err := json.Unmarshal(data, &session); err != nil {
		t.Fatal(err)
	}
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "{}")
	}))
	defer up.Close()
	p := stand(t, up.URL, map[string]any{"compression.strategy": strategy, "compression.density.cadence": "every-turn",
		"model.contextLimit": max(len(data)/16, 6000), "model.completionBudget": 100})
	defer p.end()
	a := &agent{form: s.form, base: p.url}
	var all []said
	for _, entry := range session.History[:min(full.Or(60, 250), len(session.History))] {
		if entry.Speaker == content.AI && len(all) > 0 && all[len(all)-1].role != s.model {
			a.items = s.items(all)
			if status, answer := a.ask(t); status != http.StatusOK {
				t.Fatal(status, string(answer))
			}
			came := a.sent[0]
			a.sent = nil
			if requests++; string(sent) != string(came) {
				edited++
			}
			if at := inARow(t, sent); at >= 0 && inARow(t, came) < 0 {
				bad++
				t.Errorf("request %d: message %d is from the same as the one before it", requests, at)
			}
		}
		all = s.add(all, entry)
	}
	return requests, edited, bad
}
