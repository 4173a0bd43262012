package watch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/browser"
)

// The page shows sessions, turns and what was removed, at the width of a phone and of a desk, in light and dark. It
// asks no one but its server, and takes no recorded text for markup.
func TestThePageInABrowser(t *testing.T) {
	r := worked(t)
	s := httptest.NewServer(r.Before(http.NotFoundHandler(), "the-token", true))
	defer s.Close()
	b := browser.Open(t)
	for _, width := range []int{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.Show(s.URL+Page+"#the-token", width, scheme)
			b.Until(`document.querySelectorAll('#sessions tbody tr').length === 3`)
			b.Eval(`document.querySelectorAll('#sessions button')[1].click()`)
			b.Until(`document.querySelectorAll('#detail button').length === 3`)
			// What was said is found by its words, with the keyboard alone, and opens around what was found.
			b.Eval(`document.querySelector('#words').focus()`)
			b.Type(`"line70 of"`)
			b.Until(`document.querySelectorAll('#found pre').length === 1`)
			b.Eval(`document.querySelector('#found button').focus()`)
			b.Type(``)
			b.Until(`document.querySelector('#found pre').textContent.startsWith('line41 ')`)
			b.Eval(`document.querySelector('#words').select()`)
			b.Type(`taken "example.com/x.png"`)
			b.Until(`document.querySelector('#found pre')?.textContent === ` + quoted(hostile))
			b.Eval(`document.querySelector('#detail button').click()`)
			b.Until(`document.querySelector('#detail pre')?.textContent === ` + quoted(hostile))
			for what, expression := range map[string]string{
				"nothing stands out of the page": `document.documentElement.scrollWidth <= innerWidth`,
				"the token left the address":     `location.hash === ''`,
				"the scheme is followed": `(getComputedStyle(document.body).backgroundColor === ` +
					`'rgb(255, 255, 255)') === ` + fmt.Sprint(scheme == "light"),
				"a fork stands below what it is of": `document.querySelectorAll('#sessions tbody tr')[2].innerText` +
					`.includes('└')`,
				"what is kept is shown with its rule": `document.querySelector('#detail').innerText.includes('CLAUDE.md')`,
				"the reason of a change can be read": `document.querySelector('#detail').innerText` +
					`.includes('superseded-read, see e9')`,
			} {
				if b.Eval(expression) != "true" {
					t.Errorf("%d px, %s: not so: %s", width, scheme, what)
				}
			}
			b.Shot(fmt.Sprintf("%d-%s.png", width, scheme))
		}
	}
	// Without a token there is a page that asks for it, and no data.
	b.Eval(`sessionStorage.clear()`)
	b.Go(s.URL + Page)
	b.Until(`!document.querySelector('#ask').hidden`)
	for _, url := range b.Asked {
		if !strings.HasPrefix(url, s.URL+Page) && url != "about:blank" {
			t.Errorf("the page asked for %s", url)
		}
	}
	for _, text := range b.Said {
		if !strings.Contains(text, "401") { // the request without a token
			t.Errorf("the browser says: %s", text)
		}
	}
}

func quoted(s string) string { text, _ := json.Marshal(s); return string(text) }
