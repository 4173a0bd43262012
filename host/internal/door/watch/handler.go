package watch

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/journal"
	"github.com/thresh-dev/thresh/host/internal/provider/messages"
	"github.com/thresh-dev/thresh/host/internal/search"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/sdk/content"
)

// Page is the address of the page. It holds no data, so that it needs no token; everything below it does.
const Page = "/ui"

//go:embed page.html
var page []byte

// policy lets a browser run the page's own script and styles, and ask its own server. Nothing can be loaded from
// elsewhere, sent, or framed, even if a recorded text contains markup.
var policy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"script-src " + hashOf("script") + "; style-src " + hashOf("style")

// hashOf returns the hash of the one element of the page with a name.
func hashOf(element string) string {
	_, rest, _ := strings.Cut(string(page), "<"+element+">")
	text, _, _ := strings.Cut(rest, "</"+element+">")
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Viewer says whose sessions a request may see: those of Owner, or All for the operator of a service.
type Viewer struct {
	Owner string
	All   bool
}

// Handler serves the page and its data, all for reading. Who may ask is decided before, for everything but the page
// itself.
func (r *Recorder) Handler(viewer func(*http.Request) Viewer) http.Handler {
	mux := http.NewServeMux()
	// viewer is not asked here: a request for the page has no token, and so none.
	mux.HandleFunc("GET "+Page, func(w http.ResponseWriter, _ *http.Request) {
		guarded(w, "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(page)
	})
	mux.HandleFunc("GET "+Page+"/sessions", func(w http.ResponseWriter, q *http.Request) {
		answer(w, r.list(q.Context(), viewer(q)))
	})
	key := func(q *http.Request) store.Key {
		by, asked := viewer(q), q.URL.Query()
		if by.All {
			by.Owner = asked.Get("owner")
		}
		return store.Key{Owner: by.Owner, ID: asked.Get("session")}
	}
	mux.HandleFunc("GET "+Page+"/session", func(w http.ResponseWriter, q *http.Request) {
		d, err := r.detail(q.Context(), key(q))
		switch {
		case errors.Is(err, store.ErrNotFound):
			http.Error(w, "no such session", http.StatusNotFound)
		case err != nil:
			http.Error(w, store.Public(err), http.StatusInternalServerError)
		default:
			answer(w, d)
		}
	})
	mux.HandleFunc("GET "+Page+"/search", func(w http.ResponseWriter, q *http.Request) {
		found, err := r.search(q.Context(), key(q), q.URL.Query())
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, journal.ErrNotRecorded):
			http.Error(w, "it is not kept: set sessions.store", http.StatusNotFound)
		case errors.Is(err, search.ErrQuery):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case err != nil:
			http.Error(w, store.Public(err), http.StatusInternalServerError)
		default:
			answer(w, found)
		}
	})
	mux.HandleFunc("GET "+Page+"/original", func(w http.ResponseWriter, q *http.Request) {
		found, err := r.original(q.Context(), key(q), q.URL.Query().Get("entry"))
		switch {
		case errors.Is(err, store.ErrNotFound) || err == nil && found == nil:
			http.Error(w, "the entry was made, not added, or it is not kept: set sessions.store", http.StatusNotFound)
		case err != nil:
			http.Error(w, store.Public(err), http.StatusInternalServerError)
		default:
			// As plain text, so that no browser takes what was recorded for markup.
			guarded(w, "text/plain; charset=utf-8")
			_, _ = w.Write([]byte(readable(found)))
		}
	})
	return mux
}

// Before puts the page and its data before another handler, for a host with one user, who has a token. loopback:
// only this machine reaches the address.
func (r *Recorder) Before(next http.Handler, token string, loopback bool) http.Handler {
	guard := access.NewGuard(store.NewMemory(), token, hclog.NewNullLogger())
	pages := r.Handler(func(*http.Request) Viewer { return Viewer{} })
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != Page && !strings.HasPrefix(q.URL.Path, Page+"/") {
			next.ServeHTTP(w, q)
			return
		}
		guard.Stranger(w, q) // nothing here takes long
		access.Unread(w, q)
		// A missing or another scheme leaves a text that is no token.
		shown, _ := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
		_, err := guard.Who(q.Context(), shown, q.RemoteAddr)
		switch {
		case access.Foreign(q, loopback):
			http.Error(w, "requests from web pages are refused", http.StatusForbidden)
		case err != nil && q.URL.Path != Page:
			http.Error(w, err.Error(), http.StatusUnauthorized)
		default:
			pages.ServeHTTP(w, q)
		}
	})
}

// guarded sets the headers of an answer that a browser must not guess at, keep, or show to others.
func guarded(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func answer(w http.ResponseWriter, v any) {
	guarded(w, "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func readable(entries []content.Content) string {
	var parts []string
	for _, e := range entries {
		for _, b := range e.Blocks {
			parts = append(parts, messages.Readable(b))
		}
	}
	return strings.Join(parts, "\n\n")
}
