package htmlreport

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/thresh-dev/thresh/host/internal/lab/compare"
)

// Options of a page. The zero value is a page with the standard title and without a date.
type Options struct {
	// Title is the heading; "": a standard title.
	Title string
	// Made is the time of the report, shown in UTC in the last section. The zero value leaves it out, and makes the
	// page depend on the report alone.
	Made time.Time
	// Version is the version of the program that made the report; "" leaves it out.
	Version string
}

//go:embed report.tmpl
var pageTemplate string

//go:embed style.css
var styleSheet string

// Write writes the page. The same report gives the same bytes, except for the section of times at the end. All text
// from sessions and price lists is escaped. The page stays below 2 MB for any number of turns, sessions and variants:
// lines are thinned out without losing a peak, and only the largest sessions are shown one by one; the totals contain
// all.
//
// It returns errors of w. After an error, w has received a part of the page; see atomicfile for writing files. The
// report is not changed.
func Write(w io.Writer, r *compare.Report, o Options) error {
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	// One more, for doing nothing.
	style := styleSheet + seriesStyle(len(r.Variants)+1)
	sum := sha256.Sum256([]byte(style))
	p := newPage(r, o)
	p.Style = template.CSS(style) // safe: style.css is embedded, and seriesStyle writes only numbers
	p.StyleHash = base64.StdEncoding.EncodeToString(sum[:])
	// A template makes thousands of small writes.
	buffered := bufio.NewWriter(w)
	if err := t.Execute(buffered, p); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	return nil
}

// Variants cycle through colours and dash styles. The combinations repeat after 28, and dashes help readers who
// cannot tell the colours apart. Series 0, doing nothing, has a colour of its own and no dashes.
const (
	colours    = 7
	dashStyles = 4
)

var dashes = [dashStyles]string{"", "7 3", "2 3", "9 3 2 3"}

// seriesStyle returns the CSS that depends on the number of series: colour and dashes of each, and the rule that
// hides a line when its check box is cleared. That is done in CSS, as the page has no scripts.
func seriesStyle(series int) string {
	var b strings.Builder
	for i := range series {
		fmt.Fprintf(&b, ".s%d{--c:var(--s%d)", i, seriesColour(i))
		if d := dashes[seriesDash(i)]; d != "" {
			fmt.Fprintf(&b, ";stroke-dasharray:%s", d)
		}
		fmt.Fprintf(&b, "}\nbody:has(#show%d:not(:checked)) figure .s%d{display:none}\n", i, i)
	}
	return b.String()
}

// seriesColour returns the number of the colour variable in style.css.
func seriesColour(i int) int {
	if i == 0 {
		return 0
	}
	return 1 + (i-1)%colours
}

// seriesDash returns the dash style. It depends on the colour too, so that neighbours differ in both.
func seriesDash(i int) int {
	if i == 0 {
		return 0
	}
	return ((i-1)/colours + (i-1)%colours) % dashStyles
}
