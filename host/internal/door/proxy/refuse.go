package proxy

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// refuse answers with an error in the form of the request's API, so that clients show its message. A client that cannot
// decode an error may show none.
func refuse(w http.ResponseWriter, rt route, status int, message string) {
	var v any
	switch {
	case rt.api == provider.Gemini:
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

// refused answers a request that was not admitted, and counts and logs it by the reason: someone may be trying tokens,
// or a web page the ports of its reader's machine. Nothing that the request says is logged, as anyone can send one.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, rt route, err error) {
	reason, status := "store", http.StatusServiceUnavailable // of tokens
	limit := (*access.LimitError)(nil)
	switch {
	case errors.Is(err, errPage):
		reason, status = "page", http.StatusForbidden
	case errors.Is(err, errHost):
		reason, status = "host", http.StatusForbidden
	case errors.Is(err, errToken):
		reason, status = "token", http.StatusForbidden
	case errors.As(err, &limit):
		reason, status = "limit", http.StatusTooManyRequests
	}
	s.options.Measured.Refused(string(rt.api), reason)
	if reason != "token" { // the guard has logged these
		s.logOnce("a request was refused: "+reason, "from", r.RemoteAddr, "error", err)
	}
	refuse(w, rt, status, store.Public(err))
}

// unread answers a request whose body could not be read, if the error says so; false if it is another error.
func (x *exchange) unread(w http.ResponseWriter, err error) bool {
	over := (*access.LimitError)(nil)
	switch {
	case errors.As(err, &over):
		x.server.options.Measured.Refused(string(x.route.api), "limit")
		refuse(w, x.route, http.StatusRequestEntityTooLarge, over.Error())
	case errors.Is(err, access.ErrSlow):
		refuse(w, x.route, http.StatusRequestTimeout, access.ErrSlow.Error())
	case errors.Is(err, access.ErrBroken):
		refuse(w, x.route, http.StatusBadRequest, access.ErrBroken.Error())
	default:
		return false
	}
	return true
}
