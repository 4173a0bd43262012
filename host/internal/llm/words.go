package llm

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// words are the fields of a provider's error. What one provider calls a type, another calls a code.
type words struct {
	kind, code, message string
	// found: the body reports an error.
	found bool
}

// readWords reads the forms that providers and compatible servers use: {"error": {message, type, code}}, {"error":
// "text"}, {"message": …} and {"detail": …}; for others the result is zero. Codes are text or numbers.
func readWords(body []byte) words {
	type said struct {
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
	}
	var outer struct {
		said
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return words{}
	}
	inner := outer.said
	if json.Unmarshal(outer.Error, &inner) != nil {
		inner.Message = firstOf(outer.Error, inner.Message, outer.Detail)
	}
	w := words{kind: plain(inner.Type), code: plain(inner.Code), message: plain(inner.Message)}
	w.found = len(outer.Error) > 0 || w.message != ""
	return w
}

// firstOf returns the first candidate that says something.
func firstOf(candidates ...json.RawMessage) json.RawMessage {
	for _, c := range candidates {
		if plain(c) != "" {
			return c
		}
	}
	return nil
}

// plain returns a JSON string's text, other values as JSON, null as "".
func plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(raw))
}

// status returns the HTTP status for an error within a stream; 200 if unknown. 529 is Anthropic's "overloaded".
func (w words) status() int {
	if n, err := strconv.Atoi(w.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, name := range []string{w.code, w.kind} {
		switch name {
		case "overloaded_error":
			return 529
		case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
			return http.StatusTooManyRequests
		case "api_error", "server_error", "internal_server_error", "internal_error":
			return http.StatusInternalServerError
		case "timeout_error":
			return http.StatusGatewayTimeout
		case "invalid_request_error", "context_length_exceeded":
			return http.StatusBadRequest
		case "authentication_error", "invalid_api_key":
			return http.StatusUnauthorized
		case "permission_error":
			return http.StatusForbidden
		case "not_found_error", "model_not_found":
			return http.StatusNotFound
		}
	}
	return http.StatusOK
}
