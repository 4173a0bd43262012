package transcript

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// object is a JSON object with its fields in their order, as raw JSON. It is used in place of a map so that what is
// carried along is written back in the same order, and with the same digits. Of a name that occurs twice the last
// value counts, as in most parsers, at the place of the first. The values are slices of the text that was parsed:
// what is kept must be copied.
type object []field

type field struct {
	name  string
	value []byte
	at    int // where the value begins in that text
}

// parseObject reads an object with nothing but white space behind it.
func parseObject(raw []byte) (object, error) {
	var o object
	var index map[string]int // only of a long object: looking through a list of a million names for each name takes hours
	s := rawjson.New(raw)
	err := s.Object(func(name []byte) error {
		f := field{name: string(name), at: s.Offset()}
		var err error
		f.value, err = s.Skip()
		before := -1
		if index == nil {
			before = slices.IndexFunc(o, func(g field) bool { return g.name == f.name })
		} else if i, ok := index[f.name]; ok {
			before = i
		}
		if before >= 0 {
			o[before] = f
			return err
		}
		o = append(o, f)
		switch {
		case index != nil:
			index[f.name] = len(o) - 1
		case len(o) == 16:
			index = map[string]int{}
			for i, g := range o {
				index[g.name] = i
			}
		}
		return err
	})
	if err == nil {
		err = s.Rest()
	}
	return o, err
}

// asObject returns the fields of raw, nil if it is not an object. A nil object has no fields, so that lookups in nested
// objects need no checks.
func asObject(raw []byte) object {
	if kind(raw) != '{' {
		return nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil
	}
	return o
}

// elements returns the elements of an array; ok is false if raw is not an array.
func elements(raw []byte) (list [][]byte, ok bool) {
	s := rawjson.New(raw)
	err := s.Array(func(int) error {
		value, err := s.Skip()
		list = append(list, value)
		return err
	})
	return list, err == nil
}

// field returns the field of that name, an empty one if there is none. It looks through the whole list: it is for the
// few fields that a format knows.
func (o object) field(name string) field {
	for i := range o {
		if o[i].name == name {
			return o[i]
		}
	}
	return field{}
}

// raw returns the value of a field, nil if there is none.
func (o object) raw(name string) []byte { return o.field(name).value }

// has reports whether there is a field of that name that is not null. Some recorders write null for what is missing.
func (o object) has(name string) bool { return !rawjson.IsNull(o.raw(name)) }

// text returns the string in a field, "" if there is none.
func (o object) text(name string) string {
	s, _ := rawjson.Text(o.raw(name))
	return s
}

func (o object) object(name string) object { return asObject(o.raw(name)) }

func (o object) isTrue(name string) bool { return string(o.raw(name)) == "true" }

// copyOf returns a copy of a field's value, nil if there is none or it is null.
func (o object) copyOf(name string) json.RawMessage {
	if raw := o.raw(name); !rawjson.IsNull(raw) {
		return bytes.Clone(raw)
	}
	return nil
}

// without returns copies of the fields except those with the given names and those that are null.
func (o object) without(names ...string) content.Fields {
	var out content.Fields
	for _, f := range o {
		if !slices.Contains(names, f.name) && !rawjson.IsNull(f.value) {
			out = append(out, content.Field{Name: f.name, Value: bytes.Clone(f.value)})
		}
	}
	return out
}

// jsonOf returns fields as a JSON object, {} if there are none.
func jsonOf(fields content.Fields) json.RawMessage {
	var m metadata
	for _, f := range fields {
		m.raw(f.Name, f.Value)
	}
	if len(m) == 0 {
		return json.RawMessage("{}")
	}
	return m.json()
}

// kind returns the first byte of a value, 0 if there is none.
func kind(raw []byte) byte { return rawjson.New(raw).Kind() }

// metadata builds a metadata object in the order in which its fields are set.
type metadata []byte

// raw sets a field to a JSON value. null and nil set nothing.
func (m *metadata) raw(name string, value []byte) {
	if rawjson.IsNull(value) {
		return
	}
	sep := byte(',')
	if len(*m) == 0 {
		sep = '{'
	}
	*m = append(*m, sep)
	*m = append(*m, content.String(name)...)
	*m = append(*m, ':')
	*m = append(*m, value...)
}

// text sets a field to a string. "" sets nothing.
func (m *metadata) text(name, value string) {
	if value != "" {
		m.raw(name, content.String(value))
	}
}

// flag sets a field to true. False sets nothing.
func (m *metadata) flag(name string, set bool) {
	if set {
		m.raw(name, []byte("true"))
	}
}

// json returns the object, nil if nothing was set.
func (m *metadata) json() json.RawMessage {
	if len(*m) == 0 {
		return nil
	}
	return json.RawMessage(append((*m)[:len(*m):len(*m)], '}'))
}
