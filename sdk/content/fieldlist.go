package content

import (
	"bytes"
	"slices"
)

// fieldList collects the fields of an object in order. If a name occurs twice the last value counts, at the place of
// the first. A short list is searched linearly and a long one by an index, so that an object with a million fields
// costs no more per field than one with ten. The values alias the text that is being read.
type fieldList struct {
	fields []rawField
	index  map[string]int // nil while the list is short
}

// rawField is one field of an object as it stands in the text.
type rawField struct {
	name  string
	value []byte
}

// shortList is how many fields a list has before it gets an index.
const shortList = 16

// reset empties the list and keeps its array for the next object.
func (l *fieldList) reset() { *l = fieldList{fields: l.fields[:0]} }

// set adds a field. Of several fields with one name the last counts, at the place of the first, as in encoding/json.
func (l *fieldList) set(name, value []byte) {
	if i := l.find(name); i >= 0 {
		l.fields[i].value = value
		return
	}
	l.fields = append(l.fields, rawField{name: intern(name), value: value})
	switch {
	case l.index != nil:
		l.index[l.fields[len(l.fields)-1].name] = len(l.fields) - 1
	case len(l.fields) > shortList:
		l.index = make(map[string]int, 2*shortList)
		for i, f := range l.fields {
			l.index[f.name] = i
		}
	}
}

// find returns the position of a field, -1 if there is none. Objects with many fields have an index, so that a hostile
// one does not take quadratic time.
func (l *fieldList) find(name []byte) int {
	if l.index != nil {
		if i, ok := l.index[string(name)]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(l.fields, func(f rawField) bool { return f.name == string(name) })
}

// get returns the value of a field, nil if there is none. It looks through the whole list: it is for the few fields
// that a kind of block knows.
func (l *fieldList) get(name string) []byte {
	for i := range l.fields {
		if l.fields[i].name == name {
			return l.fields[i].value
		}
	}
	return nil
}

// take returns what get does and removes the field. Nothing may be set afterwards, as the index would be wrong.
func (l *fieldList) take(name string) []byte {
	for i := range l.fields {
		if f := l.fields[i]; f.name == name {
			l.fields = slices.Delete(l.fields, i, i+1)
			return f.value
		}
	}
	return nil
}

// copy returns the fields as a list of their own.
func (l *fieldList) copy() Fields {
	out := make([]Field, len(l.fields))
	for i, f := range l.fields {
		out[i] = Field{Name: f.name, Value: bytes.Clone(f.value)}
	}
	return FieldsOf(out...)
}

// intern returns name as a string, without an allocation for the names that every block has.
func intern(name []byte) string {
	switch string(name) {
	case "type":
		return "type"
	case "text":
		return "text"
	case "id":
		return "id"
	case "name":
		return "name"
	case "parameters":
		return "parameters"
	case "callId":
		return "callId"
	case "toolName":
		return "toolName"
	case "result":
		return "result"
	case "error":
		return "error"
	case "thought":
		return "thought"
	case "signature":
		return "signature"
	default:
		return string(name)
	}
}
