package pricing

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// maxFileBytes bounds a file of price lists, and maxForeignBytes a catalogue of others, the largest of which has 3 MB: a
// larger file is something else.
const maxFileBytes, maxForeignBytes = 1 << 20, 16 << 20

// Error is one problem in a file of price lists.
type Error struct {
	// File and Line, from 1, locate the problem; 0 where Model does.
	File string
	Line int
	// List is the name of the price list, and Model that of a model in a catalogue of others; "" if it has none or the
	// problem concerns the whole file.
	List, Model string
	Problem     string
}

func (e *Error) Error() string {
	where := e.File + ": "
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	}
	if e.Model != "" {
		where += fmt.Sprintf("model %.80s: ", strconv.Quote(e.Model))
	}
	if e.List != "" {
		where += fmt.Sprintf("price list %.80s: ", strconv.Quote(e.List))
	}
	return where + e.Problem
}

func read(file string) (lists, error) {
	data, err := atomicfile.Text(file, maxForeignBytes)
	if err == nil {
		if all, ok, err := readForeign(file, data, modified(file)); ok || err != nil {
			return all, err
		}
		if len(data) > maxFileBytes {
			err = fmt.Errorf("it is larger than %d bytes, and none of %s", maxFileBytes, Forms)
		}
	}
	if err != nil {
		return lists{}, fmt.Errorf("%s: cannot be read as a file of price lists: %w", file, err)
	}
	all, err := parse(file, data)
	return lists{all: all}, err
}

// modified returns the day of a file, which is the latest that its prices can be of.
func modified(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return time.Now().Format(time.DateOnly)
	}
	return info.ModTime().Format(time.DateOnly)
}
