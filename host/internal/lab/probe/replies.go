package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/thresh-dev/thresh/internal/atomicfile"
)

// mostReply bounds a file that came back, in bytes.
const mostReply = 16 << 20

// mostText bounds a question, reference or answer, in bytes.
const mostText = 8 << 10

// Problem is something in a file that cannot be used. It costs what it names and nothing else.
type Problem struct {
	File string `json:"file"`
	// Item is the question or answer, by its id or its position from 1; "" for the whole file.
	Item    string `json:"item,omitempty"`
	Message string `json:"message"`
}

func (p Problem) Error() string {
	if p.Item == "" {
		return p.File + ": " + p.Message
	}
	return p.File + ": " + p.Item + ": " + p.Message
}

// reply reads what came back for a sheet; there is false if nothing did yet.
func (b *Book) reply(s *sheet) (data []byte, there bool, err error) {
	data, err = atomicfile.Read(b.path(s.dir, s.output), mostReply)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// list returns the elements of an object's only field, which is a list.
func list(data []byte, field string) ([]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("not one JSON object: %w", err)
	}
	raw, ok := object[field]
	if !ok || len(object) != 1 {
		return nil, fmt.Errorf("want an object with the one field %q", field)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("%s: want a list: %w", field, err)
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: the list is empty", field)
	}
	return items, nil
}

// strict reads one element. A field that is not asked for is a misunderstanding, and is refused.
func strict(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// replies reads what came back for a sheet, by the ids of its questions or answers. about returns an element's id and
// what is wrong with it.
func replies[T any](s *sheet, data []byte, field string, about func(*T) (id, problem string)) (
	out map[string]T, problems []Problem,
) {
	file := path.Join(s.dir, s.output)
	items, err := list(data, field)
	if err != nil {
		return nil, []Problem{{File: file, Message: err.Error()}}
	}
	out = map[string]T{}
	wrong := map[string]bool{}
	for i, raw := range items {
		var item T
		err := strict(raw, &item)
		id, bad := about(&item)
		switch _, twice := out[id]; {
		case err != nil:
			bad = err.Error()
		case !slices.Contains(s.ids, id):
			bad = "the sheet has no such id"
		case twice:
			bad = "its id is given twice" // which of them was meant is not known
		}
		if bad == "" && !wrong[id] {
			out[id] = item
			continue
		}
		delete(out, id)
		if !wrong[id] {
			problems = append(problems, Problem{file, cmp.Or(id, fmt.Sprintf("element %d", i+1)), bad})
		}
		wrong[id] = true
	}
	for _, id := range s.ids {
		if _, came := out[id]; !came && !wrong[id] {
			problems = append(problems, Problem{file, id, "missing"})
		}
	}
	return out, problems
}

// byID returns elements in the order of their ids, which are as good as random.
func byID[T any](items []T, id func(T) string) []T {
	return slices.SortedFunc(slices.Values(items), func(a, b T) int { return cmp.Compare(id(a), id(b)) })
}
