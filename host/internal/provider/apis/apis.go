// Package apis finds the form of an API.
package apis

import (
	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/anthropic"
	"github.com/thresh-dev/thresh/host/internal/provider/chat"
	"github.com/thresh-dev/thresh/host/internal/provider/gemini"
	"github.com/thresh-dev/thresh/host/internal/provider/responses"
)

// All are the forms, in a fixed order.
func All() []*provider.Form {
	return []*provider.Form{&anthropic.Form, &chat.Form, &responses.Form, &gemini.Form}
}

// Of returns the form of an API; Gemini's for one that is unknown, which has none of its members.
func Of(api provider.API) *provider.Form {
	for _, f := range All() {
		if f.API == api {
			return f
		}
	}
	return &gemini.Form
}
