package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/thresh-dev/thresh/host/internal/sse"
)

// endpoint is where one kind of request goes. It is immutable: concurrent calls share it.
//
// The providers' libraries would add 28 MB to every host, more than half of the program, for the two requests that are
// made here.
type endpoint struct {
	url    string
	header http.Header // in addition to those of every request
	client *http.Client
}

// newEndpoint returns the endpoint for a path below a profile's server, or below base if it names none.
func newEndpoint(p Profile, base, path string, header http.Header, client *http.Client) (endpoint, error) {
	target, err := url.JoinPath(cmp.Or(p.BaseURL, base), path)
	if err != nil {
		return endpoint{}, fmt.Errorf("%s: %w", p.setting("baseURL"), err)
	}
	return endpoint{url: target, header: header, client: client}, nil
}

// stream sends a request and passes each event of the answer to take, until one fails.
func stream(ctx context.Context, e endpoint, body any, x *exchange, take func(json.RawMessage) error) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := x.do(req, e.client)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	events := sse.Reader{Max: maxEvent, Data: func(data []byte) error {
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return errDone
		}
		var failed struct {
			Error json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(data, &failed); err != nil {
			return err
		}
		if len(failed.Error) > 0 && string(failed.Error) != "null" {
			return &errorEvent{bytes.Clone(data)}
		}
		return take(data)
	}}
	if _, err := io.Copy(&events, res.Body); !errors.Is(err, errDone) {
		return err
	}
	return nil
}

// maxEvent bounds one event of an answer, in bytes.
const maxEvent = 32 << 20

// errDone ends the reading of a stream at its last event.
var errDone = errors.New("done")

// errorEvent is an event by which a provider says in the middle of an answer that it failed.
type errorEvent struct{ data []byte }

func (e *errorEvent) Error() string { return "the provider reported an error: " + string(e.data) }
