package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// endpoint is where one kind of request goes.
//
// Of the providers' libraries only a reader of event streams is used. The rest of them adds 28 MB to every host, more
// than half of the program, for the two requests that are made here. It is not changed after it was made, so that
// concurrent calls may share it.
type endpoint struct {
	url    string
	header http.Header // in addition to those of every request
	client *http.Client
}

// newEndpoint returns the endpoint for a path below a profile's server, or below base if it names none. The error names
// the setting.
func newEndpoint(p Profile, base, path string, header http.Header, client *http.Client) (endpoint, error) {
	if p.BaseURL != "" {
		base = p.BaseURL
	}
	target, err := url.JoinPath(base, path)
	if err != nil {
		return endpoint{}, fmt.Errorf("%s: %w", p.setting("baseURL"), err)
	}
	return endpoint{url: target, header: header, client: client}, nil
}

// stream sends a request and passes each event of the answer to take, until one fails. x watches it, and turns every
// answer that is not a stream into an error.
func stream[T any](ctx context.Context, e endpoint, body any, x *exchange, take func(T) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	// A copy, because the header is shared by concurrent calls.
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := x.do(req, e.client)
	if err != nil {
		return err
	}
	events := ssestream.NewStream[T](ssestream.NewDecoder(res), nil)
	defer events.Close()
	for events.Next() {
		if err := take(events.Current()); err != nil {
			return err
		}
	}
	return events.Err()
}
