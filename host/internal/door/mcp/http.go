package mcp

import (
	"io"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// Path is where doors serve the protocol over HTTP.
const Path = "/mcp"

// SessionHeader names the conversation that a client of a served host is about. The model cannot set it: what an id
// opens is decided by whoever configured the agent.
const SessionHeader = "X-Thresh-Session"

// Session returns the conversation that a request names. "": it names none, and was refused.
func Session(w http.ResponseWriter, r *http.Request) string {
	id := r.Header.Get(SessionHeader)
	if id == "" {
		http.Error(w, "the header "+SessionHeader+" is missing: it names the session of which removed results are read",
			http.StatusBadRequest)
	}
	return id
}

// ServeHTTP answers one message in the body of a POST. A stream of the server's own messages, which a GET would ask
// for, does not exist: the server has none. Who may ask is decided before.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST: this server sends no messages of its own", http.StatusMethodNotAllowed)
		return
	}
	message, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return
	}
	// Headers are given on, because the latest revision repeats in them what the message says.
	reply, status := s.handle(r.Context(), jsonrpc.Line{Text: message}, r.Header)
	if reply != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	if reply != nil {
		_, _ = w.Write(jsonrpc.Encode(*reply))
	}
}
