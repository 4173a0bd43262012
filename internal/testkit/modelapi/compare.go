package modelapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OnlyEdits compares a request that a proxy sent with the client's. Outside of the conversation every byte must be the
// client's, and each part of the conversation the client's bytes, a result with another text, or a part of new text. A
// cache marker may have moved.
func OnlyEdits(client, sent []byte) error {
	was, list, err := conversation(client)
	if err != nil {
		return err
	}
	now, _, err := conversation(sent)
	if err != nil {
		return err
	}
	for k, v := range was {
		if k != list && !bytes.Equal(v, now[k]) {
			return fmt.Errorf("%s changed", k)
		}
	}
	had := map[string]bool{}
	for _, part := range parts(was[list]) {
		had[part], had[withoutText(part)] = true, true
	}
	for _, part := range parts(now[list]) {
		if !had[part] && !had[withoutText(part)] && !strings.Contains(part, `"text":"`) {
			return fmt.Errorf("sent, but not the client's: %.300s", part)
		}
	}
	return nil
}

// Continues reports whether a request begins with the whole conversation of another one.
func Continues(before, request []byte) bool {
	was, list, err := conversation(before)
	if err != nil {
		return false
	}
	now, _, err := conversation(request)
	a, b := parts(was[list]), parts(now[list])
	return err == nil && len(b) >= len(a) && slices.Equal(a, b[:len(a)])
}

// conversation returns the members of a body, and which of them is the conversation.
func conversation(body []byte) (members map[string]json.RawMessage, list string, err error) {
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, "", err
	}
	for _, k := range []string{"messages", "input", "contents"} {
		if _, ok := members[k]; ok {
			return members, k, nil
		}
	}
	return nil, "", fmt.Errorf("no conversation in %.80s", body)
}

// parts returns the parts of all items as they stand, without their cache markers. An item without parts is one.
func parts(list json.RawMessage) (out []string) {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items)
	for _, item := range items {
		var o map[string]json.RawMessage
		_ = json.Unmarshal(item, &o)
		var inner []json.RawMessage
		if o["tool_call_id"] == nil { // a result of the Chat Completions API is one part
			for _, k := range []string{"content", "parts"} {
				_ = json.Unmarshal(o[k], &inner)
			}
		}
		if inner == nil {
			inner = []json.RawMessage{item}
		}
		for _, part := range inner {
			out = append(out, unmarked(string(part)))
		}
	}
	return out
}

// unmarked takes a part's cache marker off, an object without objects in it.
func unmarked(part string) string {
	i := strings.Index(part, `,"cache_control":{`)
	if i < 0 {
		return part
	}
	return part[:i] + part[i+strings.IndexByte(part[i:], '}')+1:]
}

// withoutText takes off the text of a result.
func withoutText(part string) string {
	for _, field := range []string{`"content":`, `"output":`} {
		i := strings.Index(part, field)
		if i < 0 {
			continue
		}
		var value json.RawMessage
		d := json.NewDecoder(strings.NewReader(part[i+len(field):]))
		if d.Decode(&value) == nil {
			return part[:i] + part[i+len(field)+int(d.InputOffset()):]
		}
	}
	return part
}
