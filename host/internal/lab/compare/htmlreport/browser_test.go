package htmlreport_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/thresh-dev/thresh/host/internal/lab/compare/htmlreport"
	"github.com/thresh-dev/thresh/internal/testkit/browser"
)

// The page and its tables fit a phone and a desk, in light and dark, also with three price lists and twelve variants.
func TestTheReportInABrowser(t *testing.T) {
	b := browser.Open(t)
	page := write(t, made(size{3, 60, 12, 3}), htmlreport.Options{})
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.Show("file://"+file, width, scheme)
			b.Until(`document.querySelectorAll('figure').length > 0 && document.readyState === 'complete'`)
			for what, expression := range map[string]string{
				"nothing stands out of the page": `document.documentElement.scrollWidth <= innerWidth`,
				"tables fit without being moved": `![...document.querySelectorAll('.wide')].some(e => ` +
					`!e.closest('details') && e.scrollWidth > e.clientWidth + 1)`,
				"the scheme is followed": `(getComputedStyle(document.body).backgroundColor === ` +
					`'rgb(255, 255, 255)') === ` + fmt.Sprint(scheme == "light"),
			} {
				if b.Eval(expression) != "true" {
					t.Errorf("%d px, %s: not so: %s", width, scheme, what)
				}
			}
			b.Shot(fmt.Sprintf("report-%d-%s.png", width, scheme))
		}
	}
	for _, text := range b.Said {
		t.Errorf("the browser says: %s", text)
	}
}
