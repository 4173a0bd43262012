package transcriptlog

import (
	"errors"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// idField is the field that holds an entry's id. It comes first in a line and is not part of the entry: [CutID]
// removes it. An entry may have a field of that name itself; such a field does not come first and stays.
const idField = "threshId"

// AppendEntry appends an entry in the native form to dst, with its id in the session's history and without a line
// end. The entry itself is byte for byte as it was added, so that it can be given back so.
func AppendEntry(dst []byte, id string, c content.Content) []byte {
	dst = append(dst, `{"`+idField+`":`...)
	dst = append(dst, content.String(id)...)
	at := len(dst)
	dst = c.AppendJSON(dst)
	dst[at] = ',' // replaces the entry's '{': every entry has a speaker, so a field follows
	return dst
}

// systemStart begins the line of a system prompt, which has no id and no other field.
const systemStart = `{"system":[`

// AppendSystem appends the line of a system prompt to dst, without a line end: the field "system" of the native form.
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

// CutID splits what [AppendEntry] made into the id and the entry as JSON. An entry without an id is returned as it
// is, with id "".
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
	// Also if the field is empty or no text: then it is the entry's own.
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
