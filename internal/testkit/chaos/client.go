package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// client speaks JSON-RPC with one 'thresh run' for all agents. Requests of different sessions run in parallel there, so
// replies come in any order. mu guards everything but in's reader.
type client struct {
	mu   sync.Mutex
	in   io.WriteCloser
	next int
	// waiting has a channel for each request that is not answered yet, by its id; nil once there are no more replies.
	waiting map[int]chan reply
	ended   error         // why there are no more replies; nil: there may be
	done    chan struct{} // closed when there are no more
}

// reply is one line that thresh prints. Exactly one of Result and Error is set. Either Result or Error is set.
type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// rpcError is what a method failed with. The fields of Data are pointers where being absent is a fault.
type rpcError struct {
	Code    int
	Message string
	Data    *struct {
		Kind, Plugin string
		Retryable    *bool
		Prepared     *prepared
	}
}

func (e *rpcError) Error() string { return e.Message }

// errGone: thresh ended, or closed its output.
var errGone = errors.New("thresh is gone")

// newClient returns a client of a thresh with these streams. It reads until out ends, and then closes done.
func newClient(in io.WriteCloser, out io.Reader) *client {
	c := &client{in: in, waiting: map[int]chan reply{}, done: make(chan struct{})}
	go c.read(out)
	return c
}

// read hands out replies until there are no more, and fails the calls that wait then. It never blocks on an agent: each
// channel has room for its one reply. Otherwise the host would stop reading, and the run would hang. It runs until the
// output ends, on a goroutine of its own.
func (c *client) read(out io.Reader) {
	// Replies hold whole histories.
	lines := bufio.NewReaderSize(out, 1<<20)
	defer close(c.done)
	var err error
	for err == nil {
		var line []byte
		if line, err = lines.ReadBytes('\n'); err != nil {
			break
		}
		var r reply
		if err = json.Unmarshal(line, &r); err != nil {
			err = fmt.Errorf("on standard output: %w: %.200s", err, line)
			break
		}
		c.mu.Lock()
		answer := c.waiting[r.ID]
		delete(c.waiting, r.ID)
		c.mu.Unlock()
		// A channel has room for its one reply, so that this never blocks.
		if answer != nil { // nil: a reply without a request, or a second one
			answer <- r
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = fmt.Errorf("%w: %w", errGone, err)
	for _, answer := range c.waiting {
		// A closed channel is what send takes for errGone.
		close(answer)
	}
	c.waiting = nil
}

// send sends a request. The returned function waits for its result, and stores it in into (nil: it is dropped). Its
// error is an [*rpcError], or wraps [errGone].
func (c *client) send(method string, params any) (wait func(into any) error) {
	answer := make(chan reply, 1)
	if err := c.write(method, params, answer); err != nil {
		return func(any) error { return err }
	}
	return func(into any) error {
		r, ok := <-answer
		switch {
		case !ok:
			return errGone
		case r.Error != nil:
			return r.Error
		case into == nil:
			return nil
		}
		return json.Unmarshal(r.Result, into)
	}
}

// write writes one request in one piece. The channel is entered before the lock is released, so that the reply cannot
// come first. write sends one request in one write, under the lock: lines of different agents must not mix. The answer
// is expected only if the write succeeded.
func (c *client) write(method string, params any, answer chan reply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return c.ended
	}
	c.next++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	c.waiting[c.next] = answer
	return nil
}

// call sends a request and waits for its result.
func (c *client) call(method string, params, into any) error { return c.send(method, params)(into) }
