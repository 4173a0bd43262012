package modelapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
)

// The order matters: rules first, then errors that are asked for, then the cache and the limit. A provider that answers
// with an error at once has cached nothing.
//
// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.running.Add(1)
	defer s.running.Done()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	// Recorded on arrival, so that a test can see requests that are still being answered.
	seen := &Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: raw,
		ended: make(chan struct{})}
	defer func() { // faults leave by panic
		s.mu.Lock()
		seen.cancelled = r.Context().Err() != nil
		s.mu.Unlock()
		close(seen.ended)
	}()
	s.mu.Lock()
	s.requests = append(s.requests, seen)
	seen.Number = len(s.requests)
	s.mu.Unlock()
	if s.options.OnRequest != nil {
		s.options.OnRequest(seen)
	}
	status := func(code int) { s.mu.Lock(); seen.Status = code; s.mu.Unlock() }
	a, counts := apiOf(r)
	if a == nil || r.Method != http.MethodPost {
		code := http.StatusNotFound
		// Clients look whether the server is there, or which models it has, before they ask anything.
		if r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/models") {
			code = http.StatusOK
		}
		status(code)
		writeJSON(w, code, object{"data": []any{}, "object": "list"})
		return
	}
	var body object
	if err := json.Unmarshal(raw, &body); err != nil {
		s.refuse(w, seen, a, 400, "The request body is not valid JSON: "+err.Error())
		return
	}
	if strings.HasSuffix(r.URL.Path, "/cachedContents") {
		s.mu.Lock()
		made := gemini{}.cached(s, body)
		s.mu.Unlock()
		status(200)
		writeJSON(w, 200, made)
		return
	}
	s.mu.Lock()
	p, err := a.judge(s, r, body)
	seen.Dropped = len(p.dropped)
	s.mu.Unlock()
	if err != nil {
		s.refuse(w, seen, a, 400, err.Error())
		return
	}
	said := false
	if !counts {
		if p.reply = s.denied(seen, a); p.reply.Status == 0 {
			p.reply, said = s.begin(seen, p)
		}
	}
	maps.Copy(w.Header(), p.reply.Header)
	if code := p.reply.Status; code != 0 && p.reply.Fault != FaultInStream {
		status(code)
		writeJSON(w, code, p.reply.failure(a))
		return
	}
	u := Usage{Output: 20}
	s.mu.Lock()
	u.Input, u.Cached, u.Written = s.cache.request(modelOf(r, body), p.segments, p.auto)
	total := u.Input + u.Cached + u.Written
	if !counts {
		seen.Tokens, seen.Cached, seen.Written = total, u.Cached, u.Written
	}
	s.mu.Unlock()
	if counts {
		status(200)
		writeJSON(w, 200, object{"input_tokens": total, "totalTokens": total})
		return
	}
	if limit := s.options.ContextLimit; limit > 0 && total > limit {
		status(400)
		writeJSON(w, 400, a.fail(400, "", "context_length_exceeded", tooLong(a, total, limit)))
		return
	}
	// After the limit was checked, which is about real tokens.
	if n := s.options.Scale; n > 1 {
		u.Input, u.Cached, u.Written = u.Input*n, u.Cached*n, u.Written*n
	}
	if said {
		u.Output = Tokens(p.reply.Thinking) + Tokens(p.reply.Text)
		u = cmp.Or(p.reply.Usage, u)
	}
	s.mu.Lock()
	if places := removed.FindAllSubmatch(raw, -1); places != nil {
		p.removed = string(places[len(places)-1][1])
	}
	says := p.reply.says()
	if !said {
		says = s.says(p, sha256.Sum256(raw))
	}
	out := p.reply.reports(a.answer(s, p, u, says))
	s.mu.Unlock()
	status(200)
	s.send(w, r, p, out, a)
}

// It is for what a correct client never sends; faults and the context limit are not recorded.
func (s *Server) refuse(w http.ResponseWriter, r *Request, a api, code int, message string) {
	s.mu.Lock()
	r.Status, r.Refusal = code, message
	s.refused = append(s.refused, message)
	s.mu.Unlock()
	writeJSON(w, code, a.fail(code, "", "", message))
}

// apiOf returns the API of an address; counts is set where the question is how many tokens a request has. nil is an
// address that no API has. Some clients put /v1 into their base address and some do not.
func apiOf(r *http.Request) (a api, counts bool) {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	lax := strings.Contains(path, "gemini-2")
	switch {
	case path == "/messages":
		return messages{}, false
	case path == "/messages/count_tokens":
		return messages{counting: true}, true
	case path == "/chat/completions":
		return chat{}, false
	case path == "/responses":
		return responses{}, false
	case strings.HasSuffix(path, ":generateContent"):
		return gemini{lax: lax}, false
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini{stream: true, lax: lax}, false
	case strings.HasSuffix(path, "/cachedContents"):
		return gemini{}, false
	case strings.HasSuffix(path, ":countTokens"):
		return gemini{lax: lax}, true
	}
	return nil, false
}

// tooLong are the words of a refusal of a prompt that is too long. Clients recognise the case by them and compact, and
// the proxy reads the limit from them.
func tooLong(a api, tokens, limit int) string {
	switch a.(type) {
	case messages:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, limit)
	case gemini:
		return fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens,
			limit)
	}
	return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in "+
		"%d tokens.",
		limit, tokens)
}

// Without HTML escapes, as providers write it: < stays one byte.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// badRequest is a refusal in an API's words. Clients match these texts, so that they are quoted, mistakes of spelling
// included.
func badRequest(format string, args ...any) error { return fmt.Errorf(format, args...) }
