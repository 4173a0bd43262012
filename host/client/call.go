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
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// A request is tried again for as long as a host takes to restart.
const (
	tryFor     = 5 * time.Second
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// Call calls a method by its name, with parameters that become a JSON object, and reads its result into one; nil reads
// none. It is for what a newer host can do: everything else has a method. A result that comes in lines is not one.
//
// A request that the host did not take, because it could not be reached or was about to end, is made again for some
// seconds, and so is an addition, which has a key and takes place once.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	return c.try(ctx, method, params, func(body io.Reader) error {
		if result == nil {
			return nil
		}
		return json.NewDecoder(body).Decode(result)
	})
}

// call is Call for a result of a type.
func call[A any](ctx context.Context, c *Client, method string, params any) (answer A, err error) {
	err = c.Call(ctx, method, params, &answer)
	return answer, err
}

func (c *Client) try(ctx context.Context, method string, params any, read func(io.Reader) error) error {
	if err := texts(params); err != nil {
		return err
	}
	body, err := rawjson.Encode(params)
	if err != nil {
		return fault(api.KindRequest, err).Error
	}
	key := ""
	if add, ok := params.(api.AddRequest); ok {
		key = add.Key
	}
	until := time.Now().Add(tryFor)
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		f := c.once(ctx, method, body, read)
		if f == nil {
			return nil
		}
		f.Key = key
		if !f.untaken && (!f.Retryable || key == "") || time.Now().Add(pause).After(until) {
			return f.Error
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return f.Error
		}
	}
}

// texts refuses what JSON would make another text of, such as an id.
func texts(params any) error {
	of := reflect.ValueOf(params)
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.String && name != "-" && !utf8.ValidString(of.FieldByIndex(f.Index).String()) {
			return api.NotText(name)
		}
	}
	return nil
}

// once makes a request, and has its answer read.
func (c *Client) once(ctx context.Context, method string, body []byte, read func(io.Reader) error) *failed {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/"+method, bytes.NewReader(body))
	if err != nil {
		return fault(api.KindRequest, err)
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
	if e, ok := errors.AsType[*api.Error](err); ok {
		return refused(e)
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
	return fault(api.KindInternal, fmt.Errorf("the host's answer cannot be read: %w", err))
}

// isBroken tells a connection that broke in the middle of an answer from an answer that is wrong.
func isBroken(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// refusal reads why a request failed.
func (c *Client) refusal(ctx context.Context, answer *http.Response) *failed {
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return broken(ctx, err)
	}
	var found struct {
		Error *api.Error `json:"error"`
	}
	if json.Unmarshal(text, &found) != nil || found.Error == nil || found.Error.Kind == "" {
		return c.stranger(answer)
	}
	return refused(found.Error)
}

// stranger says that what answered does not speak as a host does.
func (c *Client) stranger(answer *http.Response) *failed {
	f := fault(api.KindConnection, fmt.Errorf("%s answered with HTTP status %d and no JSON of thresh: is that a thresh "+
		"service?", c.base, answer.StatusCode))
	f.Retryable, f.MaybeApplied = answer.StatusCode >= 500, answer.StatusCode >= 500
	return f
}

// lines calls a method whose result comes in lines, each a T, or in the end an error.
func lines[T any](ctx context.Context, c *Client, method string, params any, each func(T) error) error {
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
					Error *api.Error `json:"error"`
				}
				if err := json.Unmarshal(line, &end); err != nil {
					return err
				}
				return end.Error
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
