package content

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/internal/text"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// ErrNotAnEntry is wrapped by every error of [Content.UnmarshalJSON]. Errors of the JSON itself are also
// [*rawjson.SyntaxError].
var ErrNotAnEntry = errors.New("not a history entry")

// PathError is an error about a part of an entry.
type PathError struct {
	// Path is where that is in the native form, such as blocks[1].text.
	Path string
	Err  error
}

func (e *PathError) Error() string { return e.Err.Error() }

func (e *PathError) Unwrap() error { return e.Err }

// UnmarshalJSON reads an entry in the native form. It refuses only what is not an entry at all (not an object, a
// speaker that is not a string, blocks that are not an array; see [PathError]); an unreadable block becomes an [Opaque]
// block. Null
// blocks and metadata count as absent. If a field occurs twice the last value counts, as in encoding/json. The result
// is valid UTF-8: other bytes, and escaped halves of surrogate pairs in a text, become U+FFFD.
func (c *Content) UnmarshalJSON(data []byte) error {
	d := decoder{s: rawjson.New(validUTF8(data))}
	out, err := d.entry()
	if err == nil {
		err = d.s.Rest()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotAnEntry, err)
	}
	*c = out
	return nil
}

// ParseBlock reads one block in the native form. An unreadable one becomes an [Opaque] block with the same JSON; text
// that is not JSON is kept in it as a JSON string.
func ParseBlock(raw json.RawMessage) Block {
	if len(raw) == 0 {
		return Opaque{}
	}
	raw = validUTF8(raw)
	d := decoder{s: rawjson.New(raw)}
	b, err := d.block()
	if err == nil {
		err = d.s.Rest()
	}
	if err != nil {
		return Opaque{JSON: String(string(raw))}
	}
	return b
}

// decoder reads entries in one pass. Everything it returns is a copy: a history must not keep the file's buffer alive.
type decoder struct {
	s       *rawjson.Scanner
	scratch fieldList
}

func (d *decoder) entry() (Content, error) {
	var out Content
	var extra fieldList
	err := d.s.Object(func(name []byte) error {
		switch string(name) {
		case "speaker":
			raw, err := d.s.Skip()
			if err != nil {
				return err
			}
			speaker, ok := rawjson.Text(raw)
			if !ok {
				return &PathError{"speaker", fmt.Errorf("speaker is %s, not a string", clip(raw))}
			}
			out.Speaker = Speaker(speaker)
			return nil
		case "blocks":
			var err error
			out.Blocks, err = d.blocks()
			return err
		}
		raw, err := d.s.Skip()
		switch {
		case err != nil:
			return err
		case string(name) != "metadata":
			extra.set(name, raw)
		case rawjson.IsNull(raw):
			out.Metadata = nil
		default:
			out.Metadata = bytes.Clone(raw)
		}
		return nil
	})
	out.Extra = extra.copy()
	return out, err
}

// blocks reads the array of blocks; null and a missing field are nil, an empty array is not.
func (d *decoder) blocks() ([]Block, error) {
	if d.s.Kind() != '[' {
		raw, err := d.s.Skip()
		if err == nil && !rawjson.IsNull(raw) {
			err = &PathError{"blocks", fmt.Errorf("blocks is %s, not an array", clip(raw))}
		}
		return nil, err
	}
	blocks := []Block{}
	err := d.s.Array(func(int) error {
		b, err := d.block()
		blocks = append(blocks, b)
		return err
	})
	return blocks, err
}

// block returns syntax errors only; an unreadable block is opaque.
func (d *decoder) block() (Block, error) {
	start := d.s.Offset()
	if d.s.Kind() != '{' {
		raw, err := d.s.Skip()
		return Opaque{JSON: bytes.Clone(raw)}, err
	}
	r, err := d.reader()
	if err != nil {
		return nil, err
	}
	if b := r.block(); b != nil && r.bad == "" {
		return b, nil
	}
	// The whole text of the block, white space included: it is written back as it was.
	return Opaque{JSON: bytes.Clone(d.s.Since(start))}, nil
}

// reader reads the fields of a block, which is an object.
func (d *decoder) reader() (blockReader, error) {
	// Reused from block to block: a history has a hundred thousand of them.
	d.scratch.reset()
	return blockReader{fields: &d.scratch}, d.s.Object(func(name []byte) error {
		raw, err := d.s.Skip()
		d.scratch.set(name, raw)
		return err
	})
}

// Lacks returns the field for which a block of a known kind is opaque: it is missing or not a string. "type" if there is
// no kind, and "" if the kind is unknown.
func (o Opaque) Lacks() string {
	d := decoder{s: rawjson.New(o.JSON)}
	if d.s.Kind() != '{' {
		return ""
	}
	r, err := d.reader()
	if err != nil {
		return ""
	}
	r.block()
	return r.bad
}

// blockReader takes the known fields out of a block's fields; the rest is the block's Extra.
type blockReader struct {
	fields *fieldList
	bad    string // the first field that must be a string and is not
}

// block returns nil for an unknown kind. If a required field is bad, the result is discarded.
func (r *blockReader) block() Block {
	p := Parts{Kind: KindNamed(r.str("type"))}
	if p.Kind == nil {
		return nil
	}
	for i := range p.Fields {
		switch f, v := &p.Fields[i], &p.Values[i]; {
		case f.JSON():
			*v = string(r.fields.take(f.Name))
		case f.Failure():
			*v = r.failure(f.Name)
		case f.traits&optional != 0:
			*v = r.opt(f.Name)
		default:
			*v = r.str(f.Name)
		}
	}
	p.Extra = r.fields.copy()
	return p.Block()
}

func (r *blockReader) str(name string) string {
	s, ok := rawjson.Text(r.fields.take(name))
	if !ok && r.bad == "" {
		r.bad = name
	}
	return s
}

// opt takes a field that may be absent. An empty value, or one that is not a string, stays in Extra and is written back
// unchanged.
func (r *blockReader) opt(name string) string {
	s, _ := rawjson.Text(r.fields.get(name))
	if s != "" {
		r.fields.take(name)
	}
	return s
}

// failure reads a tool's error. A value that is not a string but means failure (an object, true) counts too; it stays
// in Extra, which wins over the typed field when the block is written.
func (r *blockReader) failure(name string) string {
	if s := r.opt(name); s != "" {
		return s
	}
	// Values that other agents write for "no error".
	switch raw := r.fields.get(name); string(raw) {
	case "", "null", "false", `""`, "0":
		return ""
	default:
		return string(raw)
	}
}

func validUTF8(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte("\ufffd"))
}

func clip(raw []byte) string {
	const most = 40
	return text.Printable(string(raw[:min(len(raw), most+1)]), most) // copies only what is shown
}
