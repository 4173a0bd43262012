package transcript

import (
	"bytes"
	"errors"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// document is a file that is one JSON value, in memory. Its JSON is valid: readers of formats need not check the
// syntax. It is used by one goroutine. Positions are bytes in data, unless they are named offset, which is in the file.
type document struct {
	data   []byte
	line   int   // of the first byte
	offset int64 // of the first byte
	top    object

	mark, markLine int
}

// newDocument indexes the fields of the document. line and offset are where data begins in the file, after a byte order
// mark and blank lines.
func newDocument(data []byte, line int, offset int64) *document {
	return &document{data: data, line: line, offset: offset, top: asObject(data), markLine: line}
}

// lineAt returns the line of the byte at. In ascending order it looks at each byte once; counting from the beginning
// for every message would take minutes for a file of 100 MB. Going back is allowed and slow.
func (d *document) lineAt(at int) int {
	if at < d.mark {
		d.mark, d.markLine = 0, d.line
	}
	d.markLine += bytes.Count(d.data[d.mark:at], []byte{'\n'})
	d.mark = at
	return d.markLine
}

func (d *document) at(name string) int { return d.top.field(name).at }

// each calls element for each element of the list in the field name, or of the document itself if name is "". A missing
// list or another value is [ErrMalformed]. An error of element ends the walk.
func (d *document) each(name string, element func(i, line int, raw []byte) error) error {
	list := field{name: "the file", value: d.data}
	if name != "" {
		list = d.top.field(name)
	}
	s := rawjson.New(list.value)
	if s.Kind() != '[' {
		return &Error{Line: d.lineAt(list.at), Offset: d.offset + int64(list.at), Entry: -1, Reason: ErrMalformed,
			Detail: list.name + " is " + clip(list.value) + ", not a list"}
	}
	// Element by element: a list of offsets of a hundred thousand messages is never built.
	return s.Array(func(i int) error {
		at := list.at + s.Offset()
		raw, err := s.Skip()
		if err != nil {
			return err
		}
		return element(i, d.lineAt(at), raw)
	})
}

// firstObject returns the first object in a list; nil if there is none, or raw is not a list.
func firstObject(raw []byte) object { return findObject(raw, func(object) bool { return true }) }

// findObject returns the first object in a list that fits; nil if none does, or raw is not a list. It stops there:
// format detection needs few elements of lists that may have a hundred thousand.
func findObject(raw []byte, fits func(object) bool) object {
	var found object
	errFound := errors.New("found")
	s := rawjson.New(raw)
	_ = s.Array(func(int) error { // errFound stops it early; otherwise raw is no list
		value, err := s.Skip()
		if o := asObject(value); err == nil && o != nil && fits(o) {
			found, err = o, errFound
		}
		return err
	})
	return found
}
