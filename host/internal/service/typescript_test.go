package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/sdk"
)

const types = "../../../clients/typescript/api.d.mts"

// TestTheTypesForTypeScriptAreCurrent: they are made of the rows.
func TestTheTypesForTypeScriptAreCurrent(t *testing.T) {
	want := typescript(t)
	if *update {
		if err := os.WriteFile(types, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(types); err != nil || string(got) != want {
		t.Errorf("api.d.mts is not what the methods are: 'make docs' writes it (%v)", err)
	}
}

// typescript declares each type of the contract, and the parameters and the result of each method.
func typescript(t *testing.T) string {
	var all, methods strings.Builder
	all.WriteString("// What a host is asked and answers, as docs/api.md describes it. Made by 'make docs'.\n\n" +
		"/** A JSON object. */\nexport type Json = Record<string, any>;\n\n" +
		"/** An entry: docs/schema/entry.schema.json. */\nexport type Entry = Json;\n\n" +
		"/** \"\" is the native form. */\nexport type Form = \"\" | \"anthropic\" | \"openai-chat\" | \"openai-responses\";\n\n" +
		"export interface Todo {\n  id?: string;\n  content?: string;\n" +
		"  status: \"pending\" | \"in_progress\" | \"completed\";\n  subtasks?: Todo[];\n}\n")
	found := map[string]*jsonschema.Schema{}
	for of, name := range named {
		if of != reflect.TypeFor[sdk.Todo]() {
			found[name] = schemaOf(t, of, false)
		}
	}
	methods.WriteString("\n/** The methods by their names. */\nexport interface Methods {\n")
	for _, m := range api.Methods() {
		of := func(t2 reflect.Type, request bool) string {
			if name, ok := named[t2]; ok {
				return name
			}
			found[t2.Name()] = schemaOf(t, t2, request)
			return t2.Name()
		}
		fmt.Fprintf(&methods, "  /** %s */\n  %q: { params: %s; result: %s };\n", m.Meaning, m.Name, of(m.Params, true),
			of(m.Result, false))
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&all, "\nexport interface %s %s\n", name, object(found[name], ""))
	}
	return all.String() + methods.String() + "}\n"
}

func object(s *jsonschema.Schema, indent string) string {
	if len(s.PropertyOrder) == 0 {
		return "{}"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if p.Description != "" {
			fmt.Fprintf(&b, "%s  /** %s */\n", indent, p.Description)
		}
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		fmt.Fprintf(&b, "%s  %s: %s;\n", indent, name, typeOf(p, indent+"  "))
	}
	return b.String() + indent + "}"
}

// typeOf is the type of a value in TypeScript.
func typeOf(s *jsonschema.Schema, indent string) string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, schemas)
	case len(s.Enum) > 0:
		return "Form"
	case len(s.Types) > 0: // a system prompt
		return "string | Json[] | null"
	case s.Type == "array" && s.Items != nil:
		if of := typeOf(s.Items, indent); regexp.MustCompile(`^\w+$`).MatchString(of) {
			return of + "[]"
		} else {
			return "Array<" + of + ">"
		}
	case s.Type == "object" && len(s.Properties) > 0:
		return object(s, indent)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "Record<string, " + typeOf(s.AdditionalProperties, indent) + ">"
	case s.Type == "object":
		return "Json"
	case s.Type == "integer", s.Type == "number":
		return "number"
	case s.Type != "":
		return s.Type
	default:
		return "any"
	}
}

// The dataclasses of the Python client, and what its errors have, are members of these schemas: its own tests hold them
// against openapi.json, which must name them so.
func TestThePythonClientFindsItsSchemas(t *testing.T) {
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(document(t), &doc); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"AddAnswer", "OpenAnswer", "StateAnswer", "PrepareAnswer", "Passage", "CompressedMessages",
		"Failure"} {
		if doc.Components.Schemas[name] == nil {
			t.Errorf("openapi.json has no %s", name)
		}
	}
}
