package proxy

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy/body"
)

// refuse answers with an error in the form of the request's API, so that clients show its message. A client that cannot
// decode an error may show none.
func refuse(w http.ResponseWriter, rt route, status int, message string) {
	var v any
	switch {
	case rt.api == body.Gemini:
		v = map[string]any{"error": map[string]any{"code": status, "message": message, "status": "UNAVAILABLE"}}
	case rt.provider == openai:
		v = map[string]any{"error": map[string]any{"message": message, "type": "thresh_error", "code": nil,
			"param": nil}}
	default:
		v = map[string]any{"type": "error", "error": map[string]any{"type": "api_error", "message": message}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// unread answers a request whose body could not be read, if the error says so; false if it is another error.
func (x *exchange) unread(w http.ResponseWriter, err error) bool {
	over := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &over):
		refuse(w, x.route, http.StatusRequestEntityTooLarge, access.TooLarge(x.grant, int(over.Limit)).Error())
	case errors.Is(err, errSlow):
		refuse(w, x.route, http.StatusRequestTimeout, errSlow.Error())
	case errors.Is(err, errBroken):
		refuse(w, x.route, http.StatusBadRequest, errBroken.Error())
	default:
		return false
	}
	return true
}
