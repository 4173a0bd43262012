package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/mcp"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/door/stdio"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/internal/testkit/settings"
	"github.com/thresh-dev/thresh/sdk/content"
)

// keyed is a store whose ids are those of other stores too.
type keyed struct{ store.Store }

func (keyed) Secret(context.Context, string) ([]byte, error) {
	return []byte("the key of all ids"), nil
}

// conversation are messages of Anthropic's form with a file read in each turn.
func conversation(turns int) (messages []json.RawMessage, files []string) {
	add := func(text string) { messages = append(messages, json.RawMessage(text)) }
	add(`{"role":"user","content":[{"type":"text","text":"Fix it."}]}`)
	for i := range turns {
		file := strings.Repeat(fmt.Sprintf("line of file %d\n", i), 60)
		files = append(files, file)
		text, _ := json.Marshal(file)
		add(fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"Read",`+
			`"input":{"file_path":"/w/%d.go"}}]}`, i, i))
		add(fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`, i, text))
	}
	return messages, files
}

// results are the texts of results in messages, by the id of the call.
func results(t *testing.T, messages []json.RawMessage) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range messages {
		var message struct {
			Content []struct {
				ID      string `json:"tool_use_id"`
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal(m, &message); err != nil {
			t.Fatalf("%v: %s", err, m)
		}
		for _, part := range message.Content {
			var text string
			if part.ID == "" {
				continue
			}
			if err := json.Unmarshal(part.Content, &text); err != nil {
				t.Fatalf("%v: %s", err, part.Content)
			}
			out[part.ID] = text
		}
	}
	return out
}

// door prepares messages in the session s, and gives a part back by the tool that an agent of the door has.
type door struct {
	prepare func(t *testing.T, messages []json.RawMessage, recall bool) []json.RawMessage
	tool    func(t *testing.T, id string) string
}

// params are those of requests of the session s.
func params(messages []json.RawMessage, recall bool) (add, prepare string) {
	list, _ := json.Marshal(messages)
	return fmt.Sprintf(`{"session":"s","format":"anthropic","messages":%s}`, list),
		fmt.Sprintf(`{"session":"s","format":"anthropic","recall":%v}`, recall)
}

func prepared(t *testing.T, answer []byte) []json.RawMessage {
	t.Helper()
	var a struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Messages) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	return a.Messages
}

// tool calls the tool as 'thresh sessions mcp' does.
func tool(t *testing.T, h *window.Host, id string) string {
	t.Helper()
	s := mcp.Server{Recall: mcp.Stored(h.Store(), store.Key{ID: "s"}, nil)}
	text, _ := s.Call(t.Context(), fmt.Appendf(nil, `{"id":%q}`, id), nil)
	return text
}

// The doors of a host: what an agent gets through each, and with what its model gets it back.
var allDoors = map[string]func(t *testing.T, h *window.Host) door{
	"embedded": func(t *testing.T, h *window.Host) door {
		s, err := host.Of(h).Open(t.Context(), api.OpenRequest{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		return door{func(t *testing.T, messages []json.RawMessage, recall bool) []json.RawMessage {
			if _, err := s.Add(t.Context(), api.AddRequest{Format: api.Anthropic, Messages: messages}); err != nil {
				t.Fatal(err)
			}
			ready, err := s.Prepare(t.Context(), api.PrepareRequest{Recall: recall, Format: api.Anthropic})
			if err != nil {
				t.Fatal(err)
			}
			return ready.Messages
		}, func(t *testing.T, id string) string {
			found, err := s.Recorded(t.Context(), api.RecordedRequest{ID: id})
			if err != nil || len(found.Entries) != 1 || len(found.Entries[0].Blocks) != 1 {
				t.Fatalf("%v: %v", err, found)
			}
			return found.Entries[0].Blocks[0].(content.ToolResponse).ResultText()
		}}
	},
	"stdio": func(_ *testing.T, h *window.Host) door {
		return door{func(t *testing.T, messages []json.RawMessage, recall bool) []json.RawMessage {
			add, prepare := params(messages, recall)
			var out bytes.Buffer
			in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"id":"s"}}
{"jsonrpc":"2.0","id":2,"method":"history.add","params":%s}
{"jsonrpc":"2.0","id":3,"method":"window.prepare","params":%s}
`, add, prepare)
			if err := stdio.Serve(t.Context(), host.Of(h), nil, strings.NewReader(in), &out,
				hclog.NewNullLogger()); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				var reply struct {
					ID     int
					Result json.RawMessage
				}
				if json.Unmarshal([]byte(line), &reply) == nil && reply.ID == 3 {
					return prepared(t, reply.Result)
				}
			}
			t.Fatal(out.String())
			return nil
		}, func(t *testing.T, id string) string { return tool(t, h, id) }}
	},
	"HTTP": func(t *testing.T, h *window.Host) door {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- network.Serve(ctx, l, nil, time.Second, network.Options{Host: host.Of(h), Store: h.Store(),
				Guard: access.NewGuard(h.Store(), token, hclog.NewNullLogger()), Recall: true, Log: hclog.NewNullLogger()})
		}()
		t.Cleanup(func() { cancel(); <-ended })
		send := func(t *testing.T, path, body string) []byte {
			t.Helper()
			header := http.Header{"Authorization": {"Bearer " + token}, "X-Thresh-Session": {"s"}}
			status, answer, err := post("http://"+l.Addr().String()+path, header, []byte(body))
			if err != nil || status != http.StatusOK {
				t.Fatalf("%s: %v, %d: %s", path, err, status, answer)
			}
			return answer
		}
		return door{func(t *testing.T, messages []json.RawMessage, recall bool) []json.RawMessage {
			add, prepare := params(messages, recall)
			send(t, "/v1/session.open", `{"id":"s"}`)
			send(t, "/v1/history.add", add)
			return prepared(t, send(t, "/v1/window.prepare", prepare))
		}, func(t *testing.T, id string) string {
			var a struct {
				Result struct{ Content []struct{ Text string } }
			}
			answer := send(t, "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
				`"params":{"name":"thresh_recall","arguments":{"id":%q}}}`, id))
			if json.Unmarshal(answer, &a) != nil || len(a.Result.Content) != 1 {
				t.Fatalf("%s", answer)
			}
			return a.Result.Content[0].Text
		}}
	},
	"proxy": func(t *testing.T, h *window.Host) door {
		var sent []byte
		up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent, _ = io.ReadAll(r.Body) }))
		t.Cleanup(up.Close)
		p := inFront(t, h, up.URL, &proxy.Recall{Named: true})
		return door{func(t *testing.T, messages []json.RawMessage, recall bool) []json.RawMessage {
			tools := `{"name":"Read","input_schema":{"type":"object"}}`
			if recall {
				tools += `,{"name":"mcp__thresh__thresh_recall","input_schema":{"type":"object"}}`
			}
			list, _ := json.Marshal(messages)
			status, answer, err := post(p+"/v1/messages", http.Header{"X-Thresh-Session": {"s"}}, fmt.Appendf(nil,
				`{"model":"claude-sonnet-4-5","max_tokens":1000,"tools":[%s],"messages":%s}`, tools, list))
			if err != nil || status != http.StatusOK {
				t.Fatalf("%v, %d: %s", err, status, answer)
			}
			return prepared(t, sent)
		}, func(t *testing.T, id string) string { text, _ := recall(t, p, id, "s"); return text }}
	},
}

// The same conversation through each door gives the same view, in which each shortened result has the same id, if the
// model has the tool: by a parameter, by a setting, or in the request. Each id gives the original back by the tool of
// the door, and what was sent is sent again. Without the tool there are no ids.
func TestTheViewIsTheSameAtEveryDoor(t *testing.T) {
	want := map[bool]map[string]string{}
	for name, open := range allDoors {
		for _, recall := range []bool{true, false} {
			for _, always := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, recall %v, always %v", name, recall, always), func(t *testing.T) {
					h, err := window.Open(window.Options{Store: keyed{store.NewMemory()}, Keep: true, Logger: hclog.NewNullLogger(),
						Config: settings.Load(t, pluginDir, map[string]any{"compression.strategy": "high-density",
							"compression.density.cadence": "every-turn", "compression.density.recencyPruning": true,
							"compression.density.recencyRetention": 2, "compression.recall": always})})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = h.Close() })
					d := open(t, h)
					messages, files := conversation(6)
					first := d.prepare(t, messages[:9], recall)
					later := messages
					if name != "proxy" { // its clients send all again
						later = messages[9:]
					}
					view := d.prepare(t, later, recall)
					got, before := results(t, view), results(t, first)
					has := recall || always
					if want[has] == nil {
						want[has] = got
					}
					if diff := cmp.Diff(want[has], got); diff != "" {
						t.Errorf("another door shows: %s", diff)
					}
					ids := 0
					for i, file := range files {
						text := got[fmt.Sprint("c", i)]
						if m := marked.FindAllStringSubmatch(text, -1); len(m) > 0 {
							ids += len(m)
							if back := d.tool(t, m[0][1]); !strings.HasSuffix(back, file) {
								t.Errorf("%s gives back %.100q", m[0][1], back)
							}
						}
						if was := before[fmt.Sprint("c", i)]; was != "" && was != file && was != text {
							t.Errorf("%q was sent, and then %q", was, text)
						}
					}
					if has != (ids == 4) || !has && ids > 0 {
						t.Errorf("%d ids: %q", ids, got)
					}
				})
			}
		}
	}
}

// A host that goes on with a stored session sends the same again, with the ids, and knows that it does.
func TestTheViewIsTheSameAfterARestart(t *testing.T) {
	kept := store.NewMemory()
	messages, _ := conversation(6)
	var before []content.Content
	var last uint64 // the revision of that
	for i := range 2 {
		h, err := window.Open(window.Options{Store: kept, Keep: true, Logger: hclog.NewNullLogger(),
			Config: settings.Load(t, pluginDir, map[string]any{"compression.strategy": "high-density",
				"compression.density.cadence": "every-turn", "compression.density.recencyPruning": true})})
		if err != nil {
			t.Fatal(err)
		}
		s, err := host.Of(h).Open(t.Context(), api.OpenRequest{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := s.Add(t.Context(), api.AddRequest{Format: api.Anthropic, Messages: messages}); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			again, err := s.Prepare(t.Context(), api.PrepareRequest{Recall: true, Since: &last})
			if err != nil || *again.Keep != len(before) || len(again.History) > 0 ||
				again.Outcome.Stable.Entries != len(before) {
				t.Errorf("%+v, %d entries: %v", again.Outcome.Stable, len(again.History), err)
			}
		}
		ready, err := s.Prepare(t.Context(), api.PrepareRequest{Recall: true})
		if err != nil {
			t.Fatal(err)
		}
		counted, sum := ready.Tokens, 0
		counts, err := h.Count(t.Context(), ready.History)
		if err != nil {
			t.Fatal(err)
		}
		for j := range ready.History {
			sum += counts.Tokens(j)
		}
		if counted != sum {
			t.Errorf("%d tokens are sent, and %d were counted", sum, counted)
		}
		if i == 0 {
			before = ready.History
		} else if diff := cmp.Diff(before, ready.History); diff != "" ||
			!strings.Contains(string(before[2].AppendJSON(nil)), "[thresh_recall: ") {
			t.Error(diff)
		}
		if without, err := s.Prepare(t.Context(), api.PrepareRequest{Since: &ready.Revision}); err != nil ||
			*without.Keep != 2 {
			t.Errorf("without ids: %v, %d entries are said to be unchanged", err, *without.Keep)
		}
		if ready, err = s.Prepare(t.Context(), api.PrepareRequest{Recall: true}); err != nil {
			t.Fatal(err)
		}
		last = ready.Revision
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// inFront puts a proxy of a host in front of a server.
func inFront(t *testing.T, h *window.Host, upstream string, r *proxy.Recall) string {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	p := proxy.New(proxy.Options{Host: h, Logger: hclog.NewNullLogger(), Recall: r, Open: true,
		Guard:     access.NewGuard(store.NewMemory(), token, hclog.NewNullLogger()),
		Upstreams: proxy.Upstreams{Anthropic: u, OpenAI: u, Gemini: u}})
	s := httptest.NewServer(p)
	t.Cleanup(func() { s.Close(); p.Close() })
	return s.URL
}
