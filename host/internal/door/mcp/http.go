package mcp

import (
	"io"
	"net/http"
	"slices"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// Path is where doors serve the protocol over HTTP.
const Path = "/mcp"

// ServeHTTP answers one message in the body of a POST. A stream of the server's own messages, which a GET would ask
// for, does not exist: the server has none. Who may ask is decided before.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "only POST: this server sends no messages of its own", http.StatusMethodNotAllowed)
		return
	}
	// Clients send it from the second request on. One that does not know any of these must not guess.
	if v := r.Header.Get("MCP-Protocol-Version"); v != "" && !slices.Contains(revisions, v) {
		http.Error(w, "the protocol's revision is not served", http.StatusBadRequest)
		return
	}
	message, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		http.Error(w, "the message cannot be read", http.StatusBadRequest)
		return
	}
	reply := s.handle(r.Context(), jsonrpc.Line{Text: message})
	if reply == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Other errors are answers to a request that was understood, with status 200.
	if reply.Error != nil && (reply.Error.Code == jsonrpc.CodeParse || reply.Error.Code == jsonrpc.CodeInvalid) {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(jsonrpc.Encode(*reply))
}
