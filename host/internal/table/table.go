package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/nearest"
	"github.com/thresh-dev/thresh/internal/text"
)

type Column struct {
	// Name is what --columns calls the column. Columns of one table may share a name; they are then chosen together.
	Name string
	// Head is shown above the column, and may have several lines. "" is the name in capitals.
	Head string
	// Rank says how early the column is dropped if the table is too wide: the highest rank first, the rightmost of one
	// rank before the others. Rank 0 is always shown.
	Rank int
	// Right aligns cells at the right, as numbers are.
	Right bool
	// Min makes the column elastic: its cells may be shortened to this many characters. 0 shows them whole.
	Min int
	// Middle shortens cells in the middle instead of at the end: for paths, of which both ends tell something.
	Middle bool
}

func (c Column) head() string {
	return cmp.Or(c.Head, strings.ToUpper(c.Name))
}

// Table is a table that is being filled. Make one with [New].
type Table struct {
	// columns are in the order in which they are shown without --columns.
	columns []Column
	// Cells are ready for a terminal; each row has as many as there are columns.
	rows [][]string
}

// New returns an empty table with the given columns.
func New(columns ...Column) *Table { return &Table{columns: columns} }

// maxCell bounds a cell, in characters: no terminal shows more of it.
const maxCell = 500

// Row adds a row with a cell for each column; missing ones are empty. Text may come from anywhere: a cell is reduced to
// one line of printable characters.
func (t *Table) Row(cells ...string) {
	row := make([]string, len(t.columns))
	for i := range row[:min(len(row), len(cells))] {
		row[i] = text.OneLine(cells[i], maxCell)
	}
	t.rows = append(t.rows, row)
}

type Options struct {
	// Width is how many characters a line may have; 0 means [DefaultWidth].
	Width int
	// Columns are the names of the columns to show, in their order; "all" means every one. They are shown even if the
	// table gets too wide. None: those that fit.
	Columns []string
}

const gap = 2

// Write prints the table, in one write: other output does not cut it. A column without any content is left out, unless
// it was chosen.
func (t *Table) Write(w io.Writer, o Options) error {
	if err := Check(t.columns, o.Columns); err != nil {
		return err
	}
	shown := t.fit(o)
	var out strings.Builder
	for _, line := range heads(shown) {
		writeLine(&out, shown, line)
	}
	for _, row := range t.rows {
		cells := make([]string, len(shown))
		for i, s := range shown {
			cells[i] = s.shorten(row[s.index])
		}
		writeLine(&out, shown, cells)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Shown returns the columns that [Table.Write] prints, in their order.
func (t *Table) Shown(o Options) (columns []Column) {
	for _, p := range t.fit(o) {
		columns = append(columns, p.Column)
	}
	return columns
}

// heads returns the lines above the columns, aligned at the last one.
func heads(shown []placed) [][]string {
	height := 0
	for _, s := range shown {
		height = max(height, strings.Count(s.head(), "\n")+1)
	}
	lines := make([][]string, height)
	for i := range lines {
		lines[i] = make([]string, len(shown))
	}
	for i, s := range shown {
		own := strings.Split(s.head(), "\n")
		for j, line := range own {
			lines[height-len(own)+j][i] = line
		}
	}
	return lines
}

// writeLine drops trailing blanks, which would wrap in a narrow terminal.
func writeLine(out *strings.Builder, shown []placed, cells []string) {
	var line strings.Builder
	for i, s := range shown {
		if i > 0 {
			line.WriteString(strings.Repeat(" ", gap))
		}
		padding := strings.Repeat(" ", max(0, s.width-utf8.RuneCountInString(cells[i])))
		if s.Right {
			line.WriteString(padding + cells[i])
		} else {
			line.WriteString(cells[i] + padding)
		}
	}
	out.WriteString(strings.TrimRight(line.String(), " "))
	out.WriteByte('\n')
}

// Check reports a name in chosen that no column has, a usage error. A command calls it before it begins to work.
func Check(columns []Column, chosen []string) error {
	names := Names(columns)
	for _, name := range chosen {
		if name == All || slices.Contains(names, name) {
			continue
		}
		guess := ""
		if near := nearest.One(name, names); near != "" {
			guess = fmt.Sprintf(" (did you mean %s?)", near)
		}
		return fmt.Errorf("--columns: no column %.80q%s; columns are %s", name, guess, strings.Join(names, ", "))
	}
	return nil
}

// All is what --columns takes for every column.
const All = "all"

// Names returns the columns' names, each once.
func Names(columns []Column) []string {
	var names []string
	for _, c := range columns {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}
