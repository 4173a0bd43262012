package transcript

import (
	"errors"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// idField is the field that a host's own transcript puts before each entry. It is no part of the entry: reading takes it
// off again. An entry may well have a field of that name itself, which does not come first and stays.
const idField = "threshId"

// AppendEntry appends an entry in the native form, with the id that it has in its session's history. [Read] gives the entry
// back as it was, and the id in [Transcript.IDs].
func AppendEntry(dst []byte, id string, c content.Content) []byte {
	dst = append(dst, `{"`+idField+`":`...)
	dst = append(dst, content.String(id)...)
	at := len(dst)
	dst = c.AppendJSON(dst)
	dst[at] = ',' // every entry has a speaker, so that a field follows
	return dst
}

// cutID takes the id off an entry in the native form; "" if it has none.
func cutID(raw []byte) (id string, entry []byte) {
	first := errors.New("only the first field counts")
	end := 0
	s := rawjson.New(raw)
	_ = s.Object(func(name []byte) error {
		if string(name) != idField {
			return first
		}
		value, err := s.Skip()
		if err != nil {
			return err
		}
		id, _ = rawjson.Text(value)
		end = s.Offset()
		return first
	})
	if id == "" {
		return "", raw
	}
	for end < len(raw) && raw[end] != ',' && raw[end] != '}' {
		end++ // white space
	}
	if end == len(raw) || raw[end] == '}' {
		return id, []byte("{}")
	}
	return id, append([]byte{'{'}, raw[end+1:]...)
}

// identify notes the id of the entry that was added last.
func (b *builder) identify(id string) {
	if id == "" && b.t.IDs == nil {
		return
	}
	for len(b.t.IDs) < len(b.t.Entries)-1 {
		b.t.IDs = append(b.t.IDs, "")
	}
	b.t.IDs = append(b.t.IDs, id)
}
