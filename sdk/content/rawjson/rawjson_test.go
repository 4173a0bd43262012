package rawjson_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

func skipAll(data []byte) error {
	s := rawjson.New(data)
	if _, err := s.Skip(); err != nil {
		return err
	}
	return s.Rest()
}

func TestBrokenJSONIsRefusedWithItsPosition(t *testing.T) {
	tests := map[string]struct {
		json      string
		offset    int
		truncated bool
	}{
		"nothing":                 {"", 0, true},
		"cut in an object":        {`{"a":1`, 6, true},
		"cut in a string":         {`{"a":"b`, 7, true},
		"cut in an escape":        {`"\u12`, 5, true},
		"cut in a literal":        {`[tru`, 4, true},
		"cut behind a minus":      {`-`, 1, true},
		"cut behind a name":       {`{"a"`, 4, true},
		"trailing comma":          {`[1,]`, 3, false},
		"comma in an object":      {`{"a":1,}`, 7, false},
		"name without quotes":     {`{a:1}`, 1, false},
		"missing colon":           {`{"a" 1}`, 5, false},
		"missing comma":           {`[1 2]`, 3, false},
		"wrong closing delimiter": {`[1}`, 2, false},
		"leading zero":            {`[01]`, 2, false},
		"bare fraction":           {`[.5]`, 1, false},
		"exponent without digits": {`[1e]`, 3, false},
		"control byte in string":  {"\"a\nb\"", 2, false},
		"unknown escape":          {`"\x"`, 2, false},
		"no hex":                  {`"\u12g4"`, 5, false},
		"misspelt literal":        {`nuLl`, 2, false},
		"NUL":                     {"\x00", 0, false},
		"second value":            {`{} {}`, 3, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := skipAll([]byte(tt.json))
			var syntax *rawjson.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Offset != tt.offset || errors.Is(err, io.ErrUnexpectedEOF) != tt.truncated {
				t.Errorf("got %v (truncated: %v), want byte %d, truncated: %v", err,
					errors.Is(err, io.ErrUnexpectedEOF),
					tt.offset, tt.truncated)
			}
		})
	}
}

func TestObjectGivesFieldsInOrderAsTheyStand(t *testing.T) {
	const data = ` { "b" : 1.50 , "a\u0041" : [ {} , [] , "x" ] , "b" : {"n":null} } `
	var got []string
	s := rawjson.New([]byte(data))
	err := s.Object(func(name []byte) error {
		value, err := s.Skip()
		got = append(got, string(name)+"="+string(value))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b=1.50", `aA=[ {} , [] , "x" ]`, `b={"n":null}`}, got); diff != "" {
		t.Error(diff)
	}
	if got := string(rawjson.Field([]byte(data), "b")); got != `{"n":null}` {
		t.Errorf("Field returned %s, not the last value", got)
	}
}

func TestAnotherKindIsNamed(t *testing.T) {
	s := rawjson.New([]byte(` "text"`))
	err := s.Object(func([]byte) error { return nil })
	if !errors.Is(err, rawjson.ErrKind) || !strings.Contains(err.Error(), "not an object") {
		t.Errorf("got %v", err)
	}
}

func TestNestingIsLimited(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	if err := skipAll(nested(rawjson.MaxDepth)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if err := skipAll(nested(rawjson.MaxDepth + 1)); err == nil {
		t.Error("over the limit: no error")
	}
	if err := skipAll([]byte(strings.Repeat("[", 1<<20))); err == nil {
		t.Error("a million brackets: no error")
	}
}

func TestIsNull(t *testing.T) {
	for raw, want := range map[string]bool{"": true, "null": true, " null\n": true, `"null"`: false, "0": false,
		"{}": false} {
		if got := rawjson.IsNull([]byte(raw)); got != want {
			t.Errorf("IsNull(%q) = %v", raw, got)
		}
	}
}

// FuzzScanner holds the scanner against encoding/json: they accept the same texts and decode the same strings.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e+10,true,false,null,"\u00e9\ud83d\ude00\ud800x"]}`, "\"\xff\u2028\"",
		`[[],{},[{}]]`, `{"a":}`, `01`, ` "" `, `"\\\"\/\b\f\n\r\t long enough for a word \uD83D\ude00\ude00 \u12 "`,
		`"a","b"`, `"\"`, `"\x"`, "\"a line of text \n\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := skipAll(data)
		if got, want := err == nil, json.Valid(data); got != want {
			t.Fatalf("accepted: %v, encoding/json: %v (%v)\n%q", got, want, err, data)
		}
		var want string
		quoted := len(data) > 1 && data[0] == '"' && data[len(data)-1] == '"'
		_, ok := rawjson.Text(data)
		if wanted := quoted && json.Unmarshal(data, &want) == nil; ok != wanted {
			t.Fatalf("a string: %v, want %v\n%q", ok, wanted, data)
		}
		s := rawjson.New(data)
		raw, _ := s.Skip()
		if got, want := s.UTF8(), utf8.Valid(data); err == nil && got != want {
			t.Fatalf("UTF-8: %v, want %v\n%q", got, want, data)
		}
		if err != nil || json.Unmarshal(data, &want) != nil || rawjson.IsNull(data) {
			return
		}
		if got, ok := rawjson.Text(raw); !ok || got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
