package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/internal/testkit/hostile"
)

// A request is what it says, to the letter, or is refused with the place of the first thing that it is not.
func TestRequestsAreReadToTheLetter(t *testing.T) {
	entry := `{"speaker":"human","blocks":[{"type":"text","text":"x"}]}`
	for _, c := range []struct{ method, body, field, says string }{
		{"session.open", `null`, "", "must be an object"},
		{"session.open", ` {"id":"a"}`, "ok", ""},
		{"session.open", `{"ID":"a"}`, "ID", `unknown field "ID", did you mean "id"?`},
		{"session.open", `{"id":"a","id":"b"}`, "id", `"id" is there twice`},
		{"session.open", `{"id":"a","i\u0064":"b"}`, "id", `"id" is there twice`},
		{"session.open", "{\"id\":\"a\xff\"}", "id", `"id" is not valid UTF-8`},
		{"session.open", `{"id":"a\ud800"}`, "id", `"id" is not valid UTF-8`},
		{"session.open", `{"id":"a\ufffd` + "\uFFFD" + `"}`, "ok", ""},
		{"session.open", `{"settings":{"a":1,"a":2}}`, "settings.a", "is there twice"},
		{"session.open", `{"Owner":"root"}`, "Owner", "unknown field"},
		{"session.open", `{"id":null,"settings":null}`, "ok", ""},
		{"session.get", "{\"session\":\"\xc3\x28\"}", "session", "is not valid UTF-8"},
		{"history.search", `{"session":"s","place":{"entry":"e1","entry":"e2"}}`, "place.entry", "is there twice"},
		{"history.search", `{"session":"s","place":{"Entry":"e1"}}`, "place.Entry", `did you mean "entry"?`},
		{"history.search", `{"session":"s","place":null}`, "ok", ""},
		{"todos.set", `{"session":"s","todos":[{},{"subtasks":[{"id":"a","id":"a"}]}]}`, "todos[1].subtasks[0].id", "twice"},
		{"history.add", `{"session":"s","entries":[` + entry + `,{"speaker":7}]}`, "entries[1].speaker", "add entry 1: "},
		{"history.add", `{"session":"s","entries":[` + entry + `,null]}`, "entries[1]", "add entry 1: "},
		{"history.add", `{"session":"s","entries":[` + entry + `],"key":7}`, "key", "must be text, not number"},
		{"history.add", `{"session":"s","entries":[` + entry + `],"key":"a"}`, "ok", ""},
	} {
		m, err := service.Find(0, c.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Read(m, strings.NewReader(c.body))
		e, refused := errors.AsType[*api.Error](err)
		switch {
		case c.field == "ok":
			if err != nil {
				t.Errorf("%s %s: %v", c.method, c.body, err)
			}
		case !refused || e.Field != c.field || !strings.Contains(e.Error(), c.says):
			t.Errorf("%s %s: %v of %+v", c.method, c.body, err, e)
		}
	}
}

// Whatever comes, it is read or refused.
func FuzzRead(f *testing.F) {
	hostile.Fuzz(f, func(text string) {
		for _, m := range api.Methods() {
			params, err := service.Read(m, strings.NewReader(text))
			if e, refused := errors.AsType[*api.Error](err); err != nil && (!refused || e.Kind == "") || err == nil && params == nil {
				panic(fmt.Sprintf("%s: %v", m.Name, err))
			}
		}
	}, hostile.JSON...)
}

// BenchmarkRead reads an addition of a megabyte.
func BenchmarkRead(b *testing.B) {
	one := `{"speaker":"human","blocks":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 400) + `"}]}`
	text := `{"session":"a","entries":[` + strings.Repeat(one+",", 199) + one + `]}`
	m, err := service.Find(0, "history.add")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := service.Read(m, strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
