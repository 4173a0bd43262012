package table

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/text"
)

// placed is a column that is shown.
type placed struct {
	Column
	index int // in the table's columns
	width int // in characters
	full  int // the width at which no cell is shortened
	least int // the width down to which the column may be shortened
}

// shorten returns a cell in the width of its column, in characters, which is right for Latin text; a terminal may draw
// some characters wider.
func (p placed) shorten(cell string) string {
	switch {
	case utf8.RuneCountInString(cell) <= p.width:
		return cell
	case p.Middle:
		return text.ClipMiddle(cell, p.width)
	default:
		return text.OneLine(cell, p.width)
	}
}

// fit chooses the columns to show and sets their widths. Columns are dropped, by rank, until the rest fits at its least
// widths; then the remaining room is given back.
func (t *Table) fit(o Options) []placed {
	limit := cmp.Or(o.Width, DefaultWidth)
	shown := t.chosen(o.Columns)
	// Columns that the user chose are all shown, even empty ones: a script may count on their positions.
	if len(o.Columns) == 0 {
		shown = slices.DeleteFunc(shown, func(p placed) bool { return t.empty(p.index) })
		for total(shown, least) > limit {
			// The last column of the highest rank, as the loop continues at equality.
			worst := 0
			for i := range shown {
				if shown[i].Rank >= shown[worst].Rank {
					worst = i
				}
			}
			// What is left is always shown, and the lines get too long.
			if shown[worst].Rank == 0 {
				break
			}
			shown = slices.Delete(shown, worst, worst+1)
		}
	}
	stretch(shown, limit)
	return shown
}

func (t *Table) chosen(names []string) []placed {
	var out []placed
	// Several columns may have the name, such as one cost for each price list.
	add := func(name string) {
		for i, c := range t.columns {
			if name == All || c.Name == name {
				out = append(out, t.place(i))
			}
		}
	}
	if len(names) == 0 {
		add(All)
	}
	for _, name := range names {
		add(name)
	}
	return out
}

func (t *Table) place(index int) placed {
	p := placed{Column: t.columns[index], index: index}
	head := 0
	for line := range strings.SplitSeq(p.head(), "\n") {
		head = max(head, utf8.RuneCountInString(line))
	}
	p.full = head
	for _, row := range t.rows {
		p.full = max(p.full, utf8.RuneCountInString(row[index]))
	}
	p.least = p.full
	if p.Min > 0 {
		p.least = min(p.full, max(p.Min, head)) // a head is never shortened
	}
	p.width = p.full
	return p
}

// empty reports whether a column has no content in any row. Without rows no column is empty: the head is whole.
func (t *Table) empty(index int) bool {
	return len(t.rows) > 0 && !slices.ContainsFunc(t.rows, func(row []string) bool { return row[index] != "" })
}

func least(p placed) int { return p.least }

func total(shown []placed, width func(placed) int) int {
	n := gap * max(0, len(shown)-1)
	for _, p := range shown {
		n += width(p)
	}
	return n
}

// stretch gives the room to the elastic columns, in proportion to their Min, until their cells are shown whole. One
// character at a time: tables have a dozen columns and lines a few hundred characters.
func stretch(shown []placed, limit int) {
	for i := range shown {
		shown[i].width = shown[i].least
	}
	for room := limit - total(shown, least); room > 0; room-- {
		next := -1
		for i, p := range shown {
			// Compares width/Min without a division; columns without Min are at their full width already.
			if p.width < p.full && (next < 0 || p.width*shown[next].Min < shown[next].width*p.Min) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		shown[next].width++
	}
}
