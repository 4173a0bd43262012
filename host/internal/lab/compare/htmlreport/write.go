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

// Options of a page.
type Options struct {
	// Made is the time of the report, shown in UTC in the last section. The zero value leaves it out, and makes the
	// page depend on the report alone.
	Made time.Time
	// Version is the version of the program that made the report.
	Version string
	// Every gives each variant a row in the totals, instead of one to each strategy.
	Every bool
	// Set says what to set for what is advised, and Lines are the settings.
	Set   string
	Lines []string
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
	p := newPage(r, o)
	p.Style, p.StyleHash = style()
	return write(w, p)
}

func style() (template.CSS, string) {
	sum := sha256.Sum256([]byte(styleSheet))
	return template.CSS(styleSheet), base64.StdEncoding.EncodeToString(sum[:]) // safe: it is embedded
}

func write(w io.Writer, p *page) error {
	t, err := template.New("").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
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
