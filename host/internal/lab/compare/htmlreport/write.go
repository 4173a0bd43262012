package htmlreport

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
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
// from sessions and price lists is escaped. The page stays below 2 MB for any number of turns and sessions: lines are
// thinned out without losing a peak, and tables say how many rows they leave out.
//
// It returns errors of w. After an error, w has received a part of the page; see atomicfile for writing files. The
// report is not changed.
func Write(w io.Writer, r *compare.Report, o Options) error {
	t, err := template.New("report").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).
		Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	sum := sha256.Sum256([]byte(styleSheet))
	p := newPage(r, o)
	p.Style = template.CSS(styleSheet) // safe: it is embedded
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
