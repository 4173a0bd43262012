package messages

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/provider"
	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// CheckRole judges the role of a message.
func CheckRole(f *provider.Form, o ordered.Object) error {
	role := o.Text("role")
	switch {
	case o.Raw("role") == nil && o.Raw("speaker") != nil:
		return errors.New("it is an entry of the native form, which is added as one of entries, without format")
	case role == "":
		return errors.New(`"role" is missing`)
	}
	var known []string
	for _, r := range f.Roles {
		known = append(known, r.Name)
	}
	if f.ResultRole != "" {
		known = append(known, f.ResultRole)
	}
	if slices.Contains(known, role) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("unknown role %q; want %s or %s", ordered.Clip([]byte(role)), strings.Join(known[:last], ", "),
		known[last])
}

// CheckParts judges the content of a message, a string or a list of typed parts, by the rows of its form; foreign has
// rules about types. The rules are those that pair calls and results: the provider would refuse the next request with an
// error that does not say where it came from. Everything else about a part is between the agent and its provider.
func CheckParts(f *provider.Form, role string, raw []byte, foreign func(kind string) error) (part int, err error) {
	if _, ok := rawjson.Text(raw); ok {
		return -1, nil
	}
	// No provider takes a message without parts.
	parts, ok := ordered.Elements(raw)
	switch {
	case rawjson.IsNull(raw):
		return -1, errors.New(`"content" is missing`)
	case !ok:
		return -1, fmt.Errorf("content is %s, neither text nor a list of parts", ordered.Clip(raw))
	case len(parts) == 0:
		return -1, errors.New("content has no parts")
	}
	for i, raw := range parts {
		o := ordered.Of(raw)
		kind := o.Text("type")
		switch {
		case o == nil:
			return i, fmt.Errorf("it is %s, not an object", ordered.Clip(raw))
		case kind == "":
			return i, errors.New(`"type" is missing`)
		}
		err := foreign(kind)
		if k := f.Part(kind); err == nil && k != nil {
			err = checkPart(k, f.Speaker(role) == k.By, role, o)
		}
		if err != nil {
			return i, err
		}
	}
	return -1, nil
}

func checkPart(k *provider.Kind, own bool, role string, o ordered.Object) error {
	_, isText := rawjson.Text(o.Raw(k.Value))
	switch {
	// A native block of these kinds that cannot be read would be refused with words about the native form.
	case (k.Is == provider.Text || k.Is == provider.Bound && k.Value != "") && !isText:
		return fmt.Errorf("a %s part needs %q", k.Type, k.Value)
	case k.Is == provider.Call && !own:
		return fmt.Errorf("a %s in a message of the role %s: only the assistant calls tools", k.Type, role)
	case k.Is == provider.Call && (o.Text(k.ID) == "" || o.Text(k.Name) == ""):
		return fmt.Errorf("a %s needs %s and %s", k.Type, k.ID, k.Name)
	case k.Is == provider.Call && o.Has(k.Value) && ordered.Kind(o.Raw(k.Value)) != '{':
		return fmt.Errorf("the %s of a %s is %s, not an object", k.Value, k.Type, ordered.Clip(o.Raw(k.Value)))
	case k.Is == provider.Result && !own:
		return fmt.Errorf("a %s in a message of the role %s: results are the user's", k.Type, role)
	case k.Is == provider.Result && o.Text(k.ID) == "":
		return fmt.Errorf("a %s needs %s", k.Type, k.ID)
	}
	return nil
}
