package clienttest

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"testing"
)

// converse makes a command that is not started say prompts to its agent, one after the other, over the Agent Client
// Protocol: JSON-RPC in lines, as editors speak it. The agent may do whatever it asks for, and ends after the last
// prompt. out gets its standard output too. The caller calls end when the command has ended; the error says what was
// not answered.
func converse(t *testing.T, cmd *exec.Cmd, out io.Writer, dir string, prompts []string) (end func() error) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, to := io.Pipe()
	cmd.Stdout = io.MultiWriter(out, to)
	a := &acp{json.NewEncoder(in), json.NewDecoder(from), 0}
	spoken := make(chan error, 1)
	go func() {
		err := a.talk(dir, prompts)
		_ = in.Close()                   // the agent ends then
		_, _ = io.Copy(io.Discard, from) // what it says until then must not block it
		spoken <- err
	}()
	return func() error {
		_ = to.Close()
		return <-spoken
	}
}

// acp is the editor's side of a connection.
type acp struct {
	to   *json.Encoder
	from *json.Decoder
	id   int // of the last request
}

type object = map[string]any

func (a *acp) talk(dir string, prompts []string) error {
	if err := a.ask("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, nil); err != nil {
		return err
	}
	var session struct{ SessionID string }
	if err := a.ask("session/new", object{"cwd": dir, "mcpServers": []any{}}, &session); err != nil {
		return err
	}
	for _, text := range prompts {
		if err := a.ask("session/prompt", object{"sessionId": session.SessionID,
			"prompt": []any{object{"type": "text", "text": text}}}, nil); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request and waits for its answer. What the agent asks meanwhile is whether it may use a tool.
func (a *acp) ask(method string, params, result any) error {
	a.id++
	err := a.to.Encode(object{"jsonrpc": "2.0", "id": a.id, "method": method, "params": params})
	for err == nil {
		var m struct {
			ID            *int
			Method        string
			Params        struct{ Options []struct{ OptionID string } }
			Result, Error json.RawMessage
		}
		if err = a.from.Decode(&m); err != nil {
			break
		}
		switch {
		case m.ID == nil: // news
		case len(m.Params.Options) > 0:
			err = a.to.Encode(object{"jsonrpc": "2.0", "id": *m.ID, "result": object{
				"outcome": object{"outcome": "selected", "optionId": m.Params.Options[0].OptionID}}})
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error)
		case m.Method == "" && *m.ID == a.id && result != nil:
			return json.Unmarshal(m.Result, result)
		case m.Method == "" && *m.ID == a.id:
			return nil
		}
	}
	return fmt.Errorf("%s: %w", method, err)
}
