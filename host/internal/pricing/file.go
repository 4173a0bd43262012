package pricing

import (
	"fmt"
	"strconv"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// maxFileBytes bounds a file of price lists: a larger file is something else.
const maxFileBytes = 1 << 20

// Error is one problem in a file of price lists.
type Error struct {
	// File and Line, from 1, locate the problem.
	File string
	Line int
	// List is the name of the price list; "" if it has none or the problem concerns the whole file.
	List    string
	Problem string
}

func (e *Error) Error() string {
	where := fmt.Sprintf("%s:%d: ", e.File, e.Line)
	if e.List != "" {
		where += fmt.Sprintf("price list %.80s: ", strconv.Quote(e.List))
	}
	return where + e.Problem
}

func read(file string) ([]*List, error) {
	data, err := atomicfile.Text(file, maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read as a file of price lists: %w", file, err)
	}
	return parse(file, data)
}
