package content

import (
	"cmp"
	"encoding/json"
	"strings"
	"unsafe"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Kind is a kind of block: its names, its fields, and how they are written. It is for code that treats all blocks
// alike, such as what writes, measures or compares them: see [Apart].
type Kind struct {
	// Type is the "type" in the native form; "" for [Opaque].
	Type string
	// Number stands for the kind in thresh.v1.Block of the plugin protocol and in stored sessions. It never changes.
	Number int
	// Speaker is whose blocks these are; "" if anyone may have them.
	Speaker Speaker
	// Fields are all fields but Extra. In the plugin protocol a field's number is its position here, from 1. They must
	// not be changed.
	Fields []KindField

	block func(p Parts) Block
	says  func(p Parts) bool // whether a model would see anything of it
	file  func(p Parts) (mimeType, data string, remote bool)
}

// KindField is a field of a kind.
type KindField struct {
	// Name is the field's name in the native form.
	Name string
	// Stored is the field's number in stored sessions, from 2 to 15 and not 7. It never changes.
	Stored int

	traits traits
}

type traits uint8

const (
	raw      traits = 1 << iota // JSON
	optional                    // left out of the native form if it is empty; otherwise the block is malformed without it
	read                        // by models
	failure                     // a value that is not a string may mean failure too
	required
	cuttable
	unquoted
	proof // of a provider, for these bytes of the block in this place only
)

// JSON reports whether the field holds raw JSON. Other fields hold text.
func (f KindField) JSON() bool { return f.traits&raw != 0 }

// Read reports whether models read the field, so its tokens count.
func (f KindField) Read() bool { return f.traits&read != 0 }

// Required reports whether no agent or strategy may leave the field empty. Without an id no response matches a call,
// and providers refuse the request; ids need not be unique (see package turns).
func (f KindField) Required() bool { return f.traits&required != 0 }

// Cuttable reports whether an edit may take lines out of the field's text, or of the strings in its JSON. It changes no
// other field.
func (f KindField) Cuttable() bool { return f.traits&cuttable != 0 }

// Failure reports whether a text in the field says that a tool failed.
func (f KindField) Failure() bool { return f.traits&failure != 0 }

// Unquoted reports whether models read the text of a JSON string in the field, and nothing for null.
func (f KindField) Unquoted() bool { return f.traits&unquoted != 0 }

// kinds have the row of each kind in the place of its number. A kind is its type, its row, and its case in apart.
var kinds = [...]Kind{
	{}, // of what is no block
	{Type: KindText, Number: 1, Fields: []KindField{{"text", 2, read | cuttable}},
		block: func(p Parts) Block { return Text{p.Values[0], p.Extra} },
		says:  words},
	{Type: KindToolCall, Number: 2, Speaker: AI,
		Fields: []KindField{{"id", 3, required}, {"name", 4, required | read}, {"parameters", 2, raw | read}},
		block:  func(p Parts) Block { return ToolCall{p.Values[0], p.Values[1], p.JSON(2), p.Extra} },
		says:   func(p Parts) bool { return p.Values[1] != "" }}, // without it, its response would be an orphan
	{Type: KindToolResponse, Number: 3, Speaker: Tool,
		Fields: []KindField{{"callId", 3, required}, {"toolName", 4, 0}, // only some providers ask for the name
			{"result", 2, raw | read | cuttable | unquoted}, {"error", 5, optional | read | cuttable | failure}},
		block: func(p Parts) Block { return ToolResponse{p.Values[0], p.Values[1], p.JSON(2), p.Values[3], p.Extra} },
		says:  func(p Parts) bool { return p.Values[0] != "" }},
	{Type: KindMedia, Number: 4, Fields: []KindField{{"mimeType", 3, 0}, {"data", 2, 0}, {"encoding", 5, 0},
		{"caption", 6, optional | read}, {"filename", 4, optional}},
		block: func(p Parts) Block {
			return Media{p.Values[0], p.Values[1], p.Values[2], p.Values[3], p.Values[4], p.Extra}
		},
		says: func(p Parts) bool { return p.Values[1] != "" },
		file: func(p Parts) (string, string, bool) { return p.Values[0], p.Values[1], p.Values[2] == "url" }},
	{Type: KindThinking, Number: 5,
		Fields: []KindField{{"thought", 2, read | cuttable}, {"signature", 3, optional | proof}},
		block:  func(p Parts) Block { return Thinking{p.Values[0], p.Values[1], p.Extra} },
		says:   func(p Parts) bool { return p.Values[0] != "" || p.Extra.Has("encryptedContent") }},
	{Type: KindCode, Number: 6, Fields: []KindField{{"code", 2, read | cuttable}, {"language", 3, optional}},
		block: func(p Parts) Block { return Code{p.Values[0], p.Values[1], p.Extra} },
		says:  words},
	{Number: 7, Fields: []KindField{{"", 2, raw | read}},
		block: func(p Parts) Block { return Opaque{p.JSON(0)} },
		says:  func(p Parts) bool { return !rawjson.IsNull(p.JSON(0)) }},
}

func words(p Parts) bool { return strings.TrimSpace(p.Values[0]) != "" }

// Parts are a block taken apart.
type Parts struct {
	*Kind
	// Values are those of the fields, in the order of [Kind.Fields]. Raw JSON is the string of its bytes, in the same
	// memory: what is written to the bytes shows in the string.
	Values [5]string
	Extra  Fields
}

// Apart returns the parts of a block; [Parts.Block] reverses that. Nil is taken for the JSON null, as an opaque block.
// What is no block of this package, such as a pointer to one, is of a kind with the number 0 and no fields.
func Apart(b Block) (p Parts) {
	p.apart(b)
	return p
}

func (p *Parts) apart(b Block) {
	v := &p.Values
	switch b := b.(type) {
	case Text:
		p.Kind, v[0], p.Extra = &kinds[1], b.Text, b.Extra
	case ToolCall:
		p.Kind, v[0], v[1], v[2], p.Extra = &kinds[2], b.ID, b.Name, stringOf(b.Parameters), b.Extra
	case ToolResponse:
		p.Kind, v[0], v[1], v[2], v[3], p.Extra = &kinds[3], b.CallID, b.ToolName, stringOf(b.Result), b.Error, b.Extra
	case Media:
		p.Kind, p.Extra = &kinds[4], b.Extra
		v[0], v[1], v[2], v[3], v[4] = b.MimeType, b.Data, b.Encoding, b.Caption, b.Filename
	case Thinking:
		p.Kind, v[0], v[1], p.Extra = &kinds[5], b.Thought, b.Signature, b.Extra
	case Code:
		p.Kind, v[0], v[1], p.Extra = &kinds[6], b.Code, b.Language, b.Extra
	case Opaque:
		p.Kind, v[0] = &kinds[7], stringOf(b.JSON)
	case nil:
		p.Kind, v[0] = &kinds[7], "null"
	default:
		p.Kind = &kinds[0]
	}
}

// Block returns the block with these parts. It keeps their memory: nothing else may hold that of raw JSON. Extra is of
// no use to an [Opaque].
func (p *Parts) Block() Block { return p.block(*p) }

// JSON returns the raw JSON of the field at a position, nil if it is empty.
func (p *Parts) JSON(field int) json.RawMessage {
	s := p.Values[field]
	if s == "" {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(s), len(s)) // appending to it copies
}

// Text returns the field at a position as a model reads it.
func (p *Parts) Text(field int) string {
	if p.Fields[field].Unquoted() {
		return rawText(p.JSON(field))
	}
	return p.Values[field]
}

// Attachment returns the file that the block is: its data in base64 or, if remote, its address. Both are "" for other
// blocks.
func (p *Parts) Attachment() (mimeType, data string, remote bool) {
	if p.file == nil {
		return "", "", false
	}
	return p.file(*p)
}

// Proof returns a provider's proof, which is valid for these bytes of the block in this place only; "" if it has none.
func (p *Parts) Proof() string {
	for i := range p.Fields {
		if p.Fields[i].traits&proof != 0 {
			return cmp.Or(p.Values[i], stringOf(p.Extra.Get("encryptedContent")))
		}
	}
	return ""
}

// Len returns the bytes of all values.
func (p *Parts) Len() (n int) {
	for i := range p.Values {
		n += len(p.Values[i])
	}
	return n
}

// KindNumbered returns the kind with a number, nil if there is none.
func KindNumbered(number uint64) *Kind {
	if number == 0 || number >= uint64(len(kinds)) {
		return nil
	}
	return &kinds[number]
}

// KindNamed returns the kind of a "type" in the native form, nil if there is none.
func KindNamed(name string) *Kind {
	for i := 1; i < len(kinds); i++ {
		if kinds[i].Type == name && name != "" {
			return &kinds[i]
		}
	}
	return nil
}

// KindNames returns the types of the native form that this version knows.
func KindNames() (names []string) {
	for i := range kinds {
		if kinds[i].Type != "" {
			names = append(names, kinds[i].Type)
		}
	}
	return names
}

// stringOf copies nothing.
func stringOf(raw json.RawMessage) string { return unsafe.String(unsafe.SliceData(raw), len(raw)) }
