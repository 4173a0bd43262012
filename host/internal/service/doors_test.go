package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/client"
	"github.com/thresh-dev/thresh/host/internal/door/stdio"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/internal/testkit/contract"
	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

// talk are programs that make calls, each a line of JSON, through a client, and print a line of each error.
var talk = map[string][]string{
	"Python": {"python3", "-c", `
import json, sys
from thresh import Client, ThreshError
client = Client(sys.argv[1], token="token")
for line in sys.stdin:
    call = json.loads(line)
    try:
        client.call(call["method"], call["params"])
        print("{}")
    except ThreshError as e:
        print(json.dumps({"message": str(e), "kind": e.kind, "field": e.field, "retryable": e.retryable}))
`},
	"TypeScript": {"node", "--input-type=module", "-e", `
import { createInterface } from "node:readline";
import { Client } from "./thresh.mjs";
const client = new Client(process.argv[1], { token: "token" });
for await (const line of createInterface({ input: process.stdin })) {
  const { method, params } = JSON.parse(line);
  try {
    await client.call(method, params);
    console.log("{}");
  } catch (error) {
    const { message, kind, field, retryable } = error;
    console.log(JSON.stringify({ message, kind, field, retryable }));
  }
}
client.disconnect();
`},
}

// A wrong call is refused with the same words by every door and every client; Go's two ways are in the suite of package
// contract.
func TestWrongCallsAtEveryDoor(t *testing.T) {
	var calls, lines strings.Builder
	opened := `{"method":"session.open","params":{"id":"s"}}`
	fmt.Fprintln(&calls, opened)
	fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":0,%s`+"\n", opened[1:])
	wrong := contract.WrongCalls()
	for i, w := range wrong {
		params, err := json.Marshal(w.Params)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&calls, `{"method":%q,"params":%s}`+"\n", w.Method, params)
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", i+1, w.Method, params)
	}
	check := func(door string, answers []*api.Error) {
		t.Helper()
		if len(answers) != len(wrong) {
			t.Fatalf("%s: %d answers", door, len(answers))
		}
		for i, w := range wrong {
			w.Check(t, door, answers[i])
		}
	}
	url, machine := servedFrom(t, store.NewMemory())

	t.Run("stdio", func(t *testing.T) {
		var out bytes.Buffer
		if err := stdio.Serve(t.Context(), host.Of(machine), nil, strings.NewReader(lines.String()), &out,
			hclog.NewNullLogger()); err != nil {
			t.Fatal(err)
		}
		all := make([]*api.Error, len(wrong))
		for line := range strings.Lines(out.String()) {
			var answer struct {
				ID    int
				Error struct {
					Message string
					Data    *api.Error
				}
			}
			if err := json.Unmarshal([]byte(line), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.ID == 0 {
				continue
			}
			if answer.Error.Data == nil {
				t.Fatalf("%s", line)
			}
			answer.Error.Data.Message = strings.TrimPrefix(answer.Error.Message, "params: ")
			all[answer.ID-1] = answer.Error.Data
		}
		check("stdio", all)
	})

	t.Run("HTTP", func(t *testing.T) {
		c, err := client.New(url, client.Options{Token: "token"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var all []*api.Error
		for i, line := range slices.Collect(strings.Lines(calls.String())) {
			var call struct {
				Method string
				Params json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &call); err != nil {
				t.Fatal(err)
			}
			err := c.Call(t.Context(), call.Method, call.Params, nil)
			if e, ok := errors.AsType[*api.Error](err); ok {
				all = append(all, e)
			} else if err != nil || i > 0 {
				t.Fatalf("%s: %v", line, err)
			}
		}
		check("HTTP", all)
	})

	for name, args := range talk {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skipf("%s is not installed", args[0])
			}
			cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], url)...)
			cmd.Dir = filepath.Join(repo.Path(t), "clients", strings.ToLower(name))
			cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			cmd.Stdin = strings.NewReader(calls.String())
			var failed bytes.Buffer
			cmd.Stderr = &failed
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, failed.String())
			}
			var all []*api.Error
			for line := range strings.Lines(string(out)) {
				e := &api.Error{}
				if err := json.Unmarshal([]byte(line), e); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				all = append(all, e)
			}
			check(name, all[1:]) // the session was opened
		})
	}
}

// A session that another door has open, such as the conversation of messages that came alone, is listed, read and
// watched; its door alone changes it.
func TestASessionOfAnotherDoor(t *testing.T) {
	c, err := client.New(served(t), client.Options{Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	messages := []json.RawMessage{json.RawMessage(`{"role":"user","content":"read the zebra"}`)}
	for i := range 12 {
		messages = append(messages, fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d",`+
			`"type":"function","function":{"name":"read","arguments":"{}"}}]}`, i),
			fmt.Appendf(nil, `{"role":"tool","tool_call_id":"c%d","content":%q}`, i, strings.Repeat("text ", 200)))
	}
	var seen api.Event
	for e, err := range c.Watch(t.Context(), api.WatchRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = e; e.Session != "" {
			break
		}
		if _, err := c.Compress(t.Context(), api.CompressMessages{Messages: messages, ContextLimit: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := c.Sessions(t.Context(), api.ListRequest{})
	if err != nil || len(listed.Sessions) != 1 || listed.Sessions[0].Session != seen.Session || seen.Method != "prepare" {
		t.Fatalf("%+v, %v; seen %+v", listed, err, seen)
	}
	of := api.Of{Session: seen.Session}
	for method, params := range map[string]any{"session.get": of, "history.explain": api.ExplainRequest{Of: of},
		"history.get": of, "history.recorded": api.RecordedRequest{Of: of, ID: "e1"},
		"history.search": api.SearchRequest{Of: of, Query: "text"}} {
		if err := c.Call(t.Context(), method, params, &map[string]any{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	err = c.Call(t.Context(), "session.set", api.SetRequest{Of: of, Key: "compression.threshold", Value: 0.5}, nil)
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Kind != api.KindSession {
		t.Errorf("it was changed: %v", err)
	}
	if _, err := c.Compress(t.Context(), api.CompressMessages{Messages: messages, ContextLimit: 2000}); err != nil {
		t.Errorf("its own door: %v", err)
	}
}
