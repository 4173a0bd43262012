package transcriptlog

import (
	"errors"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// idField has an entry's id. It is a line's first field and not part of the entry, which may have such a field
// elsewhere.
const idField = "threshId"

// AppendEntry appends an entry in the native form to dst, with its id and without a line end. The entry itself is byte
// for byte as it was added.
func AppendEntry(dst []byte, id string, c content.Content) []byte {
	dst = append(dst, `{"`+idField+`":`...)
	dst = append(dst, content.String(id)...)
	at := len(dst)
	dst = c.AppendJSON(dst)
	dst[at] = ',' // replaces the entry's '{': every entry has a speaker, so a field follows
	return dst
}

// systemStart begins the line of a system prompt, which has no id.
const systemStart = `{"system":[`

// AppendSystem appends the line of a system prompt to dst, without a line end.
func AppendSystem(dst []byte, blocks []content.Block) []byte {
	dst = append(dst, systemStart...)
	for i, b := range blocks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = content.AppendBlock(dst, b)
	}
	return append(dst, "]}"...)
}

// CutID splits what [AppendEntry] made into id and entry. An entry without an id is returned unchanged.
func CutID(raw []byte) (id string, entry []byte) {
	stop := errors.New("only the first field counts")
	end := 0
	s := rawjson.New(raw)
	_ = s.Object(func(name []byte) error {
		if string(name) != idField {
			return stop
		}
		value, err := s.Skip()
		if err != nil {
			return err
		}
		id, _ = rawjson.Text(value)
		end = s.Offset()
		return stop
	})
	// An empty field, or one that is not text, is the entry's own.
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
