package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
)

// object is any JSON object.
type object map[string]any

func (o object) in(names ...string) object {
	for _, name := range names {
		o, _ = o[name].(map[string]any)
	}
	return o
}

func (o object) number(name string) int {
	n, _ := o[name].(float64)
	return int(n)
}

func (o object) text(name string) string {
	s, _ := o[name].(string)
	return s
}

// report is the usage of one request; the parts of the prompt do not include each other.
type report struct{ input, read, write, hour, output int }

// plain adds up what the recorder wrote.
func plain(format string, files []string, p prices) (c counts) {
	for _, file := range files {
		for _, r := range reports(format, file) {
			c.known, c.priced = true, p != prices{}
			c.prompt += r.input + r.read + r.write
			c.usd += (float64(r.input)*p.Input + float64(r.read)*p.CacheRead + float64(r.write-r.hour)*p.CacheWrite +
				float64(r.hour)*p.Hour + float64(r.output)*p.Output) / 1e6
		}
	}
	return c
}

// reports returns what a file has of each request; nil for a format without usage, or one that is not known here.
func reports(format, file string) (all []report) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	switch format {
	case "claude-code":
		all = claude(lines(raw))
	case "codex":
		all = codex(lines(raw))
	case "pi":
		for _, o := range lines(raw) {
			if u := o.in("message", "usage"); u != nil {
				all = append(all, report{u.number("input"), u.number("cacheRead"), u.number("cacheWrite"), 0, u.number("output")})
			}
		}
	case "gemini-cli":
		var o object
		_ = json.Unmarshal(raw, &o) // what is none has no messages
		messages, _ := o["messages"].([]any)
		for _, m := range messages {
			message, _ := m.(map[string]any)
			u := object(message).in("tokens")
			all = append(all, report{u.number("input") - u.number("cached"), u.number("cached"), 0, 0,
				u.number("output") + u.number("thoughts")})
		}
	}
	return all
}

// lines returns the objects of a file of one a line; what is none is left out.
func lines(raw []byte) (all []object) {
	s := bufio.NewScanner(bytes.NewReader(raw))
	s.Buffer(nil, 1<<30)
	for s.Scan() {
		var o object
		if json.Unmarshal(s.Bytes(), &o) == nil {
			all = append(all, o)
		}
	}
	return all
}

// claude takes the last usage of each message: its parts are lines of their own, with what was counted so far.
func claude(all []object) (out []report) {
	at := map[string]int{}
	for _, o := range all {
		m := o.in("message")
		u := m.in("usage")
		if o.text("type") != "assistant" || u == nil {
			continue
		}
		r := report{u.number("input_tokens"), u.number("cache_read_input_tokens"), u.number("cache_creation_input_tokens"),
			u.in("cache_creation").number("ephemeral_1h_input_tokens"), u.number("output_tokens")}
		id := m.text("id") + o.text("requestId")
		if i, ok := at[id]; ok && id != "" {
			out[i] = r
			continue
		}
		at[id] = len(out)
		out = append(out, r)
	}
	return out
}

// codex takes each report whose total is new: one is repeated with the limits of the account.
func codex(all []object) (out []report) {
	total := -1
	for _, o := range all {
		info := o.in("payload", "info")
		u := info.in("last_token_usage")
		if u == nil || info.in("total_token_usage").number("total_tokens") == total {
			continue
		}
		total = info.in("total_token_usage").number("total_tokens")
		cached := u.number("cached_input_tokens")
		out = append(out, report{u.number("input_tokens") - cached, cached, 0, 0, u.number("output_tokens")})
	}
	return out
}
