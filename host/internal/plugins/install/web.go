package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// web fetches files. It never follows a redirect to an address that others could answer for.
type web struct {
	client *http.Client
	// registry is where the releases of github.com are.
	registry *url.URL
	// silence is how long a server may send nothing.
	silence time.Duration
	agent   string
}

const (
	silence      = 30 * time.Second
	maxRedirects = 5
)

// newWeb returns what fetches through a transport; nil is the system's, with the proxies of the environment. header is
// a line such as "Authorization: Bearer …", for the registry alone.
func newWeb(transport http.RoundTripper, registry *url.URL, header, agent string) (*web, error) {
	if transport == nil {
		transport = http.DefaultTransport
	}
	if header != "" {
		name, value, ok := strings.Cut(header, ":")
		if !ok {
			return nil, errors.New("the variable that plugins.registryHeader names has no header in it: want NAME: VALUE")
		}
		transport = authorized{transport, registry, strings.TrimSpace(name), strings.TrimSpace(value)}
	}
	return &web{registry: registry, silence: silence, agent: agent,
		client: &http.Client{Transport: transport, CheckRedirect: checkRedirect}}, nil
}

func checkRedirect(next *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	case !secure(next.URL), via[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s://%s, and anyone on the way could change what comes from there",
			next.URL.Scheme, next.URL.Host)
	}
	return nil
}

// authorized adds a header to requests to one host, and to its API. A redirect to another host does not get it.
type authorized struct {
	http.RoundTripper
	registry    *url.URL
	name, value string
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == a.registry.Scheme && (r.URL.Host == a.registry.Host || r.URL.Host == apiOf(a.registry).Host) {
		r = r.Clone(r.Context())
		r.Header.Set(a.name, a.value)
	}
	return a.RoundTripper.RoundTrip(r)
}

// apiOf returns where the API of a registry is: GitHub's own has a name, those of others are below /api/v3.
func apiOf(registry *url.URL) *url.URL {
	if registry.Host == "github.com" {
		return &url.URL{Scheme: "https", Host: "api.github.com"}
	}
	return registry.JoinPath("api", "v3")
}

// open requests an address. The error is an [fs.ErrNotExist] if there is nothing. Reading fails if more than most bytes
// come, if the answer breaks off, and if nothing comes for a while.
func (w *web) open(ctx context.Context, u *url.URL, most int64) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	b := &body{most: most, address: u, cancel: cancel, silence: w.silence, ctx: ctx}
	b.timer = time.AfterFunc(w.silence, func() { cancel(fmt.Errorf("nothing came for %v", w.silence)) })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("User-Agent", w.agent)
	answer, err := w.client.Do(request)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, 0, errors.Join(b.fail(err), b.Close())
	}
	b.ReadCloser = answer.Body
	switch code := answer.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone:
		err = fmt.Errorf("%s: %w", u, fs.ErrNotExist)
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusTooManyRequests:
		err = fmt.Errorf("%s: the server refuses: %s; plugins.registryHeader sends a header to the registry", u, answer.Status)
	case code != http.StatusOK:
		err = fmt.Errorf("%s: the server answers: %s", u, answer.Status)
	case answer.ContentLength > most:
		err = b.fail(tooLarge(most))
	}
	if err != nil {
		return nil, 0, errors.Join(err, b.Close())
	}
	return b, answer.ContentLength, nil
}

func tooLarge(most int64) error { return fmt.Errorf("it is larger than %d bytes", most) }

// body is what a server sends.
type body struct {
	io.ReadCloser
	ctx        context.Context
	cancel     context.CancelCauseFunc
	timer      *time.Timer
	silence    time.Duration
	address    *url.URL
	came, most int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.silence)
	if b.came += int64(n); b.came > b.most {
		return 0, b.fail(tooLarge(b.most))
	}
	if err != nil && err != io.EOF {
		err = b.fail(err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	if b.ReadCloser != nil {
		_ = b.ReadCloser.Close()
	}
	return nil
}

func (b *body) fail(err error) error {
	switch {
	case b.ctx.Err() != nil:
		err = context.Cause(b.ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("it broke off after %d bytes: try again", b.came)
	}
	return fmt.Errorf("%s: %w", b.address, err)
}

// tags returns the versions that a repository has released, by their tags; drafts and previews are left out.
func (w *web) tags(ctx context.Context, repo string) (map[string]string, error) {
	u := apiOf(w.registry).JoinPath("repos", repo, "releases")
	u.RawQuery = "per_page=100"
	const most = 32 << 20 // a hundred releases with their notes
	text, _, err := w.open(ctx, u, most)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	var releases []struct {
		Tag        string `json:"tag_name"`
		Draft      bool
		Prerelease bool
	}
	if err := json.NewDecoder(text).Decode(&releases); err != nil {
		return nil, fmt.Errorf("%s: this is no list of releases: %w", u, cmp.Or(context.Cause(ctx), err))
	}
	tags := map[string]string{}
	for _, r := range releases {
		if v := strings.TrimPrefix(r.Tag, "v"); validVersion(v) && !r.Draft && !r.Prerelease {
			tags[v] = r.Tag
		}
	}
	return tags, nil
}
