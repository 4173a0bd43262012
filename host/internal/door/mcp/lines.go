package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
)

// maxMessage bounds a message, in bytes. The requests of this server are an id.
const maxMessage = 1 << 20

// Serve answers the messages on in until it ends or ctx is done. One is answered after the other: an agent's model
// waits for a result before it goes on.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// ended has room for one, so that a reader which outlives Serve does not block on it for ever.
	lines, ended := make(chan jsonrpc.Line), make(chan error, 1)
	go func() { ended <- jsonrpc.ReadLines(ctx, in, maxMessage, lines) }() // may outlive Serve, blocked in Read
	for {
		select {
		case l := <-lines:
			reply, _ := s.handle(ctx, l, nil)
			if reply == nil {
				continue
			}
			if _, err := out.Write(jsonrpc.Encode(*reply)); err != nil {
				return fmt.Errorf("write a reply: %w", err)
			}
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// handle returns the answer to one message, and its status over HTTP; nil if it needs none, as a notification does.
// headers are nil over lines.
func (s *Server) handle(ctx context.Context, l jsonrpc.Line, headers http.Header) (
	answer *jsonrpc.Response, status int) {
	line := bytes.TrimSpace(l.Text)
	if len(line) == 0 && l.Problem == nil {
		return nil, http.StatusAccepted
	}
	r, bad := jsonrpc.Request{}, l.Problem
	if bad == nil {
		r, bad = jsonrpc.Parse(line)
	}
	revision := ""
	if bad == nil {
		// Also one that is not known: a client may tell more than this server wants to hear.
		if r.ID == nil {
			return nil, http.StatusAccepted
		}
		revision, bad = check(r, headers)
	}
	defer func() {
		if p := recover(); p != nil {
			failed := &jsonrpc.Error{Code: jsonrpc.CodeFailed, Message: s.Panicked(p).Error()}
			answer, status = &jsonrpc.Response{ID: r.ReplyID(), Error: failed}, http.StatusOK
		}
	}()
	reply := jsonrpc.Response{ID: r.ReplyID(), Error: bad}
	switch {
	case bad != nil:
		return &reply, http.StatusBadRequest
	case revision == stateless:
		// An unknown method has a status of its own in this revision.
		if reply.Result, reply.Error = s.answerStateless(ctx, r); reply.Error != nil &&
			reply.Error.Code == jsonrpc.CodeUnknownMethod {
			return &reply, http.StatusNotFound
		}
	default:
		reply.Result, reply.Error = s.answer(ctx, r)
	}
	return &reply, http.StatusOK // other errors are answers to a request that was understood
}
