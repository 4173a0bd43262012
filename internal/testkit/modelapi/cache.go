package modelapi

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// segment is a part of a prompt that can be the end of what is cached. mark: the client set a marker there. The text is
// only hashed and measured; it need not be the bytes that the client sent.
type segment struct {
	text []byte
	mark bool
}

// segmentOf is a value as a segment: its cache marker, which is not part of what is cached, is taken off.
func segmentOf(v any) segment {
	o, ok := v.(object)
	if !ok {
		text, _ := json.Marshal(v)
		return segment{text: text}
	}
	// A client moves its marker with every request. If it were part of the text, no earlier beginning would ever be
	// found.
	rest := object{}
	for k, v := range o {
		if k != "cache_control" {
			rest[k] = v
		}
	}
	text, _ := json.Marshal(rest) // keys are sorted
	return segment{text, o["cache_control"] != nil}
}

// cache knows the beginnings of prompts. Each is known by the hash of its segments, chained, so that a change of one
// segment makes all that follow it unknown. Entries do not expire: a test has no time to wait for that.
type cache struct{ known map[[sha256.Size]byte]bool }

// request looks a prompt of a model up and stores its beginnings: those that end at a marker, or with auto all. It
// returns the tokens that were not cached, those that were, and those that were stored beyond them. The lock of the
// server is held.
func (c *cache) request(model string, segments []segment, auto bool) (input, cached, written int) {
	sum := sha256.Sum256([]byte(model)) // no model reads what another has cached
	// Tokens are bytes / 4, rounded down once for the whole beginning and not per segment: a sum of roundings would
	// depend on how the prompt is divided.
	total, stored := 0, 0
	type beginning struct {
		sum    [sha256.Size]byte
		tokens int
	}
	var marks []beginning
	bytes := 0
	for _, s := range segments {
		sum = sha256.Sum256(append(sum[:], s.text...))
		bytes += len(s.text)
		total = bytes / 4
		if c.known[sum] {
			cached = total
		}
		if auto || s.mark {
			marks = append(marks, beginning{sum, total})
			stored = total
		}
	}
	// Stored only after the look-up, so that a prompt does not find itself.
	for _, m := range marks {
		c.known[m.sum] = true
	}
	// APIs that cache without markers charge nothing for writing, and report no such count.
	if !auto {
		written = max(0, stored-cached)
	}
	return total - cached - written, cached, written
}

// As returns what was received so far, counted as if it had come with other bodies, before a prompt cache that has seen
// nothing else. The error is that of a body that would have been refused.
func (s *Server) As(body func(*Request) []byte) (out []*Request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := cache{known: map[[sha256.Size]byte]bool{}}
	for _, r := range s.requests {
		as := *r
		as.Body = body(r)
		out = append(out, &as)
		if as.Tokens == 0 {
			continue
		}
		address, err := url.Parse(r.Path)
		var read object
		if err == nil {
			err = json.Unmarshal(as.Body, &read)
		}
		if err != nil {
			return nil, err
		}
		request := &http.Request{Header: r.Header, URL: address}
		a, _ := apiOf(request)
		if m, ok := a.(messages); ok {
			m.supposed = true
			a = m
		}
		p, err := a.judge(s, request, read)
		if err != nil {
			return nil, err
		}
		input, cached, written := c.request(modelOf(request, read), p.segments, p.auto)
		as.Tokens, as.Cached, as.Written = input+cached+written, cached, written
	}
	return out, nil
}

// modelOf is what a request asks for; Gemini's has it in the address.
func modelOf(r *http.Request, body object) string {
	_, path, _ := strings.Cut(r.URL.Path, "/models/")
	path, _, _ = strings.Cut(path, ":")
	model, _ := body["model"].(string)
	return model + path
}
