package pricing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"unicode/utf8"
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
	data, err := readFile(file)
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = pe.Err // the next line names the path
		}
		return nil, fmt.Errorf("%s: cannot be read as a file of price lists: %w", file, err)
	}
	return parse(file, data)
}

// readFile reads a regular file of UTF-8 text. Opening a named pipe would block until a writer appears.
func readFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFileBytes:
		return nil, fmt.Errorf("larger than %d bytes", maxFileBytes)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("not UTF-8 text")
	}
	return data, nil
}
