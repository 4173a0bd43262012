package transcript

import (
	"bytes"
	"errors"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// document is a file that is one JSON value. Its JSON is valid.
type document struct {
	data   []byte
	line   int   // of the first byte
	offset int64 // of the first byte
	top    object

	// For lineAt: the line of the byte at mark.
	mark, markLine int
}

func newDocument(data []byte, line int, offset int64) *document {
	return &document{data: data, line: line, offset: offset, top: asObject(data), markLine: line}
}

// lineAt returns the line of a byte. If it is asked in ascending order, it looks at each byte once; counting from the
// beginning for each message would take time in the square of the file's size.
func (d *document) lineAt(at int) int {
	if at < d.mark {
		d.mark, d.markLine = 0, d.line
	}
	d.markLine += bytes.Count(d.data[d.mark:at], []byte{'\n'})
	d.mark = at
	return d.markLine
}

// at returns where the value of a top-level field begins, 0 if there is none.
func (d *document) at(name string) int { return d.top.field(name).at }

// each calls element for each element of the list in the field name, or of the document itself if name is "".
// A list that is missing or no array is an error.
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
	return s.Array(func(i int) error {
		at := list.at + s.Offset()
		raw, err := s.Skip()
		if err != nil {
			return err
		}
		return element(i, d.lineAt(at), raw)
	})
}

// firstObject returns the first object in a list, nil if there is none or raw is no list.
func firstObject(raw []byte) object {
	var found object
	errFound := errors.New("found")
	s := rawjson.New(raw)
	_ = s.Array(func(int) error { // the error is errFound, or says that raw is no list
		value, err := s.Skip()
		if err == nil && kind(value) == '{' {
			found = asObject(value)
			err = errFound
		}
		return err
	})
	return found
}
