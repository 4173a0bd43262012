package proxy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/provider"
)

// Upstreams are the providers' base URLs, as clients of the APIs take them: OpenAI's with /v1, the others' without a
// version. A request cannot name one. If it could, a page or an agent could have the user's keys sent to any address.
type Upstreams struct{ Anthropic, OpenAI, Gemini *url.URL }

// upstream is one of the upstreams.
type upstream int

const (
	unknown upstream = iota // none: such a request is not sent on
	anthropic
	openai
	gemini
)

// ParseUpstreams reads the upstreams of a configuration, whose form the configuration has checked.
func ParseUpstreams(set config.Upstreams) (u Upstreams, err error) {
	for _, one := range []struct {
		text string
		to   **url.URL
	}{{set.Anthropic, &u.Anthropic}, {set.OpenAI, &u.OpenAI}, {set.Gemini, &u.Gemini}} {
		if *one.to, err = url.Parse(one.text); err != nil {
			return u, fmt.Errorf("proxy.upstreams: %w", err)
		}
	}
	return u, nil
}

// of returns the base URL of a provider that is not unknown.
func (u Upstreams) of(p upstream) *url.URL {
	return [...]*url.URL{nil, u.Anthropic, u.OpenAI, u.Gemini}[p]
}

// task is what is done with a request.
type task int

const (
	pass  task = iota // forward it as it came
	turn              // a request to the model: the conversation in it is edited
	count             // a question how many tokens a request has: it is about what would be sent
)

// route is what an address is about. The zero task passes the request on: an address that is not known is forwarded,
// not refused, because clients use more of the APIs than is edited here.
type route struct {
	task     task
	api      provider.API
	provider upstream
	path     string // below the upstream's base URL
	model    string // where the address names it
}

// routeOf tells what a request is about. Clients append the version to the base URL or have it in it, so that both
// forms are known: of OpenAI's paths, and of Anthropic's, which the AI SDK asks for without it.
func (s *Server) routeOf(r *http.Request) route {
	path := r.URL.Path
	rt := route{path: path, provider: s.providerOf(r)}
	post := r.Method == http.MethodPost
	switch unversioned := strings.TrimPrefix(path, "/v1"); {
	case unversioned == "/messages" && post:
		rt = route{turn, provider.Messages, anthropic, "/v1/messages", ""}
	case path == "/v1/messages/count_tokens" && post:
		rt = route{count, provider.Messages, anthropic, path, ""}
	case unversioned == "/chat/completions" && post:
		rt = route{turn, provider.Chat, openai, path, ""}
	case unversioned == "/responses" && post:
		rt = route{turn, provider.Responses, openai, path, ""}
	case strings.HasPrefix(path, "/v1beta/models/") && post, strings.HasPrefix(path, "/v1/models/") && post:
		rt.provider, rt.api = gemini, provider.Gemini
		model, method, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
		rt.model = model
		switch method {
		case "generateContent", "streamGenerateContent":
			rt.task = turn
		case "countTokens":
			rt.task = count
		}
	}
	if rt.provider == openai { // the base URL has the version
		rt.path = strings.TrimPrefix(path, "/v1")
	}
	return rt
}

// openaiPaths are what the paths begin with that OpenAI's API alone has, and servers with that API on this machine, to
// which clients may send no key.
var openaiPaths = []string{"responses", "chat", "completions", "embeddings", "images", "audio", "videos", "moderations",
	"batches", "uploads", "vector_stores", "conversations", "assistants", "threads", "containers", "evals", "fine_tuning",
	"realtime"}

// providerOf tells the provider of a request: by what clients of one provider alone send, then by the agent, then by the
// key. A request that shows nothing of this has none: its key must not go to a provider that it was not sent for.
func (s *Server) providerOf(r *http.Request) upstream {
	path, h := r.URL.Path, r.Header
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, "/v1"), "/"), "/")
	bearer, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	switch {
	case h.Get("anthropic-version") != "", h.Get("x-api-key") != "", strings.HasPrefix(path, "/v1/messages"),
		strings.HasPrefix(bearer, "sk-ant-"):
		return anthropic
	case h.Get("x-goog-api-key") != "", strings.HasPrefix(path, "/v1beta"), strings.HasPrefix(path, "/upload/v1beta"),
		r.URL.Query().Has("key"):
		return gemini
	case slices.Contains(openaiPaths, first):
		return openai
	}
	switch s.options.Client {
	case "anthropic":
		return anthropic
	case "openai":
		return openai
	case "gemini":
		return gemini
	}
	// Anthropic's API takes no request without its version, and Gemini's has its own header.
	if bearer != "" {
		return openai
	}
	return unknown
}

// target is the address of a request at its upstream. The query goes on as it is; Gemini's may hold the key.
func (u Upstreams) target(rt route, r *http.Request) *url.URL {
	base := u.of(rt.provider)
	to := *base
	// Joined as text: a client may escape a slash in a model's name, which must stay escaped.
	escaped := r.URL.EscapedPath()
	root, path := strings.TrimSuffix(base.Path, "/"), rt.path
	// Some of Anthropic's clients expect the version in the base URL, such as the AI SDK.
	if rt.provider == openai || strings.HasSuffix(root, "/v1") {
		path, escaped = strings.TrimPrefix(path, "/v1"), strings.TrimPrefix(escaped, "/v1")
	}
	to.Path = root + path
	to.RawPath = strings.TrimSuffix(base.EscapedPath(), "/") + escaped
	to.RawQuery = r.URL.RawQuery
	return &to
}
