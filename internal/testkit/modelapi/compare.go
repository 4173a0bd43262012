package modelapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// OnlyEdits compares a request that a proxy sent with the client's. Outside of the conversation every byte must be the
// client's, and each part of the conversation the client's bytes, a result with another text, or a part of new text. A
// cache marker may have moved.
//
// Members that only the proxy's request has are not looked at. The order of the parts is not either: pairing is what
// the judge of the API checks.
func OnlyEdits(client, sent []byte) error {
	was, list, err := conversation(client)
	if err != nil {
		return err
	}
	now, _, err := conversation(sent)
	if err != nil {
		return err
	}
	// Bytes and not values: numbers, escapes and the order of keys must survive, because the provider's cache compares
	// text.
	for k, v := range was {
		if k != list && !bytes.Equal(v, now[k]) {
			return fmt.Errorf("%s changed", k)
		}
	}
	// Each part is known twice, with and without its text, so that a shortened result is recognised as the one that it
	// was.
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

// Continues reports whether a request begins with the whole conversation of another one. That is what an append-only
// history looks like from outside; a request after a rewrite does not continue the one before. A body without a
// conversation continues nothing.
func Continues(before, request []byte) bool {
	was, list, err := conversation(before)
	if err != nil {
		return false
	}
	now, _, err := conversation(request)
	a, b := parts(was[list]), parts(now[list])
	return err == nil && len(b) >= len(a) && slices.Equal(a, b[:len(a)])
}

// LastPart returns the newest part of a request's conversation as it stands: the result of the last call, where the
// agent adds nothing behind it. It is "" for a body without a conversation.
func LastPart(body []byte) string {
	members, list, err := conversation(body)
	all := parts(members[list])
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// conversation returns the members of a body, and which of them is the conversation. The name of the list differs
// between the APIs: messages for Messages and Chat Completions, input for Responses, contents for Gemini. The error is
// for a body that is no JSON object or has none of them.
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

// parts returns the parts of all items as they stand, without their cache markers. An item without parts is one. Text
// is compared, so that the bytes must be equal and not only the values.
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

// oneText is the content of a result that is a list of one text: to the API it is the text.
var oneText = regexp.MustCompile(`"content":\[\{"type":"text","text":("(?:[^"\\]|\\.)*")\}\]`)

// unmarked takes a part's cache marker off, an object without objects in it. A marker that comes first in its object
// stays, because no client writes it there.
func unmarked(part string) string {
	if i := strings.Index(part, `,"cache_control":{`); i >= 0 {
		part = part[:i] + part[i+strings.IndexByte(part[i:], '}')+1:]
	}
	return oneText.ReplaceAllString(part, `"content":$1`)
}

// withoutText takes off the text of a result. Everything else of it stays, above all the id of its call. A part without
// such a field is returned as it is.
func withoutText(part string) string {
	for _, field := range []string{`"content":`, `"output":`} {
		i := strings.Index(part, field)
		if i < 0 {
			continue
		}
		var value json.RawMessage
		// A decoder finds the end of the value, whether it is a string or a list of blocks.
		d := json.NewDecoder(strings.NewReader(part[i+len(field):]))
		if d.Decode(&value) == nil {
			return part[:i] + part[i+len(field)+int(d.InputOffset()):]
		}
	}
	return part
}
