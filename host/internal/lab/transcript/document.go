package transcript

import (
	"bytes"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// document is a file that is one JSON value, in memory. Its JSON is valid: readers of formats need not check the
// syntax. It is used by one goroutine. Positions are bytes in data, unless they are named offset, which is in the file.
type document struct {
	data   []byte
	line   int   // of the first byte
	offset int64 // of the first byte
	top    ordered.Object

	mark, markLine int
}

// newDocument indexes the fields of the document. line and offset are where data begins in the file, after a byte order
// mark and blank lines.
func newDocument(data []byte, line int, offset int64) *document {
	return &document{data: data, line: line, offset: offset, top: ordered.Of(data), markLine: line}
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

func (d *document) at(name string) int { return d.top.Field(name).At }

// each calls element for each element of the list in the field name, or of the document itself if name is "". A missing
// list or another value is [ErrMalformed]. An error of element ends the walk.
func (d *document) each(name string, element func(i, line int, raw []byte) error) error {
	list := ordered.Field{Name: "the file", Value: d.data}
	if name != "" {
		list = d.top.Field(name)
	}
	s := rawjson.New(list.Value)
	if s.Kind() != '[' {
		return &Error{Line: d.lineAt(list.At), Offset: d.offset + int64(list.At), Entry: -1, Reason: ErrMalformed,
			Detail: list.Name + " is " + ordered.Clip(list.Value) + ", not a list"}
	}
	// Element by element: a list of offsets of a hundred thousand messages is never built.
	return s.Array(func(i int) error {
		at := list.At + s.Offset()
		raw, err := s.Skip()
		if err != nil {
			return err
		}
		return element(i, d.lineAt(at), raw)
	})
}
