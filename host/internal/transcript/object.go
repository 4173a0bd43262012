package transcript

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// object is a JSON object with its fields in order, as raw JSON. Unlike a map it writes back carried fields in the same
// order and with the same digits; float64 would change large numbers. If a name occurs twice, the last value counts, at
// the place of the first. The values are slices of the parsed text: copy what you keep. Nil is "not an object", and all
// its lookups find nothing.
type object []field

// field is one name and value of an object. The zero field means "absent".
type field struct {
	name  string
	value []byte
	// Where the value begins in the parsed text, in bytes; for line numbers.
	at int
}

// parseObject reads an object that is followed by white space only. Up to 16 fields are searched linearly, which is
// faster than a map for the usual record; beyond that an index keeps hostile files from taking quadratic time.
func parseObject(raw []byte) (object, error) {
	var o object
	// Only for a long object: looking through a list of a million names for each name takes hours.
	var index map[string]int
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

// asObject returns the fields of raw; nil if it is not an object. Lookups in a nil object find nothing, so reading
// nested objects needs no checks in between.
func asObject(raw []byte) object {
	// Parsing a long string to learn that it is no object would be a waste.
	if kind(raw) != '{' {
		return nil
	}
	o, err := parseObject(raw)
	// Documents were checked before; for parts of a record that are no valid JSON, "not an object" is enough.
	if err != nil {
		return nil
	}
	return o
}

func elements(raw []byte) (list [][]byte, ok bool) {
	s := rawjson.New(raw)
	err := s.Array(func(int) error {
		value, err := s.Skip()
		list = append(list, value)
		return err
	})
	return list, err == nil
}

// field returns the field of that name, or the zero field. The search is linear; use it for the few fields that a
// format defines.
func (o object) field(name string) field {
	for i := range o {
		if o[i].name == name {
			return o[i]
		}
	}
	return field{}
}

func (o object) raw(name string) []byte { return o.field(name).value }

// has reports whether there is a field of that name that is not null. Some recorders write null for what is missing.
func (o object) has(name string) bool { return !rawjson.IsNull(o.raw(name)) }

func (o object) text(name string) string { return asText(o.raw(name)) }

func (o object) object(name string) object { return asObject(o.raw(name)) }

func asText(raw []byte) string {
	s, _ := rawjson.Text(raw)
	return s
}

func (o object) isTrue(name string) bool { return string(o.raw(name)) == "true" }

func (o object) copyOf(name string) json.RawMessage {
	if raw := o.raw(name); !rawjson.IsNull(raw) {
		return bytes.Clone(raw)
	}
	return nil
}

// size returns about how many bytes the object was read from.
func (o object) size() (n int) {
	for _, f := range o {
		n += len(f.name) + len(f.value) + 4
	}
	return n
}

// without returns copies of the other fields that are not null, for Extra.
func (o object) without(names ...string) content.Fields {
	var out []content.Field
	for _, f := range o {
		if !slices.Contains(names, f.name) && !rawjson.IsNull(f.value) {
			out = append(out, content.Field{Name: f.name, Value: bytes.Clone(f.value)})
		}
	}
	return content.FieldsOf(out...)
}

// kind returns the first byte of a value, which tells its JSON type; 0 if there is none.
func kind(raw []byte) byte { return rawjson.New(raw).Kind() }

// metadata builds a JSON object in the order in which its fields are set, each once. json adds the closing brace.
type metadata []byte

// raw sets a field to valid JSON. null and nil set nothing.
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

// json returns the object; nil if nothing was set, which means an entry without metadata. Capped: the builder can
// continue without changing the returned object.
func (m *metadata) json() json.RawMessage {
	if len(*m) == 0 {
		return nil
	}
	return json.RawMessage(append((*m)[:len(*m):len(*m)], '}'))
}
