package content

import (
	"bytes"
	"slices"
)

// fieldList collects the fields of an object in order. A long list is searched by an index: an object with a million
// fields costs no more per field than one with ten. Names and values alias the text that is being read.
type fieldList struct {
	fields []rawField
	index  map[string]int // nil while the list is short
}

type rawField struct {
	name, value []byte
}

// shortList is how many fields a list has before it gets an index.
const shortList = 16

// reset keeps the array for the next object.
func (l *fieldList) reset() { *l = fieldList{fields: l.fields[:0]} }

// set adds a field. Of several fields with one name the last value counts, at the place of the first.
func (l *fieldList) set(name, value []byte) {
	if i := l.find(name); i >= 0 {
		l.fields[i].value = value
		return
	}
	l.fields = append(l.fields, rawField{name, value})
	switch {
	case l.index != nil:
		l.index[string(name)] = len(l.fields) - 1
	case len(l.fields) > shortList:
		l.index = make(map[string]int, 2*shortList)
		for i, f := range l.fields {
			l.index[string(f.name)] = i
		}
	}
}

func (l *fieldList) find(name []byte) int {
	if l.index != nil {
		if i, ok := l.index[string(name)]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(l.fields, func(f rawField) bool { return string(f.name) == string(name) })
}

// get looks through the whole list: it is for the few fields that a kind of block knows. It returns nil if there is
// none.
func (l *fieldList) get(name string) []byte {
	for i := range l.fields {
		if string(l.fields[i].name) == name {
			return l.fields[i].value
		}
	}
	return nil
}

// take removes the field that get returns. Nothing may be set afterwards, as the index would be wrong.
func (l *fieldList) take(name string) []byte {
	for i := range l.fields {
		if f := l.fields[i]; string(f.name) == name {
			l.fields = slices.Delete(l.fields, i, i+1)
			return f.value
		}
	}
	return nil
}

func (l *fieldList) copy() Fields {
	out := make([]Field, len(l.fields))
	for i, f := range l.fields {
		out[i] = Field{Name: string(f.name), Value: bytes.Clone(f.value)}
	}
	return FieldsOf(out...)
}
