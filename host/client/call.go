package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// A request is tried again for as long as a host takes to restart.
const (
	tryFor     = 5 * time.Second
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// members are the parameters of a method.
type members map[string]any

// call calls a method. A has members of the answer; their names may begin with a capital. A request that the host did
// not take, because it could not be reached or was about to end, is made again for some seconds, and so is one with a
// key, which takes place once.
func call[A any](ctx context.Context, c *Client, method string, params members) (A, error) {
	var answer A
	err := c.try(ctx, method, params, func(body io.Reader) error {
		answer = *new(A)
		return json.NewDecoder(body).Decode(&answer)
	})
	return answer, err
}

// do is call for a method without a result.
func do(ctx context.Context, c *Client, method string, params members) error {
	_, err := call[struct{}](ctx, c, method, params)
	return err
}

func (c *Client) try(ctx context.Context, method string, params members, read func(io.Reader) error) error {
	body, err := rawjson.Encode(params)
	if err != nil {
		return &Error{Kind: "request", Err: err}
	}
	key, _ := params["key"].(string)
	until := time.Now().Add(tryFor)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		failed := c.once(ctx, method, body, read)
		if failed == nil {
			return nil
		}
		failed.Key = key
		if !failed.untaken && (!failed.Retryable || key == "") || time.Now().Add(pause).After(until) {
			return failed
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return failed
		}
	}
}

// once makes a request, and has its answer read.
func (c *Client) once(ctx context.Context, method string, body []byte, read func(io.Reader) error) *Error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/"+method, bytes.NewReader(body))
	if err != nil {
		return &Error{Kind: "request", Err: err}
	}
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if end, ok := ctx.Deadline(); ok {
		r.Header.Set("X-Thresh-Timeout-Ms", strconv.FormatInt(max(1, time.Until(end).Milliseconds()), 10))
	}
	answer, err := c.http.RoundTrip(r)
	if err != nil {
		return broken(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return c.refusal(ctx, answer)
	}
	err = read(answer.Body)
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body) // what is read to its end can be used again
	}
	switch _, wrong := errors.AsType[*json.SyntaxError](err); {
	case err == nil:
		return nil
	case wrong && answer.Header.Get("Content-Type") != "application/json":
		return c.stranger(answer)
	case ctx.Err() != nil, isBroken(err):
		return broken(ctx, err)
	}
	return &Error{Kind: "internal", Err: fmt.Errorf("the host's answer cannot be read: %w", err)}
}

// isBroken tells a connection that broke in the middle of an answer from an answer that is wrong.
func isBroken(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// refusal reads why a request failed.
func (c *Client) refusal(ctx context.Context, answer *http.Response) *Error {
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return broken(ctx, err)
	}
	var found struct {
		Error *failure `json:"error"`
	}
	if json.Unmarshal(text, &found) != nil || found.Error == nil || found.Error.Kind == "" {
		return c.stranger(answer)
	}
	return found.Error.failed()
}

// stranger says that what answered does not speak as a host does.
func (c *Client) stranger(answer *http.Response) *Error {
	return &Error{Kind: "connection", Retryable: answer.StatusCode >= 500, MaybeApplied: answer.StatusCode >= 500,
		Err: fmt.Errorf("%s answered with HTTP status %d and no JSON of thresh: is that a thresh service?", c.base,
			answer.StatusCode)}
}

// lines calls a method whose result comes in lines, each a T, or in the end an error.
func lines[T any](ctx context.Context, c *Client, method string, params members, each func(T) error) error {
	return c.try(ctx, method, params, func(body io.Reader) error {
		for dec := json.NewDecoder(body); ; {
			var line json.RawMessage
			if err := dec.Decode(&line); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if bytes.HasPrefix(line, []byte(`{"error":`)) {
				var end struct {
					Error *failure `json:"error"`
				}
				if err := json.Unmarshal(line, &end); err != nil {
					return err
				}
				return end.Error.failed()
			}
			var value T
			if err := json.Unmarshal(line, &value); err != nil {
				return err
			}
			if err := each(value); err != nil {
				return err
			}
		}
	})
}
