package config

import (
	"encoding/json"
	"slices"
	"strings"
)

// schemaDialect is the JSON Schema version that editors support best.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// Schema returns the JSON Schema of a settings file, for editors. Loading checks more: what is a path, which names
// exist, who may set what.
//
// A key may be nested or written in full (model.contextLimit), at the top and in a profile. Partly nested keys with a
// dot are accepted unchecked.
func Schema() json.RawMessage {
	profile := newSchemaNode()
	root := newSchemaNode()
	for _, s := range Specs() {
		root.put(s.Key, s.schema())
		if s.PersistToProfile {
			profile.put(s.Key, s.schema())
		}
	}
	for _, s := range ProviderSpecs() {
		profile.put(s.Key, s.schema())
	}
	grant := newSchemaNode()
	for _, s := range grantSpecs {
		grant.put(s.Key, s.schema())
	}
	required := newSchemaNode()
	for _, s := range requiredSpecs {
		required.put(s.Key, s.schema())
	}
	// Only its plugin knows a strategy's settings.
	own := schemaNode{"type": "object", "propertyNames": schemaNode{"pattern": freeName().String()},
		"additionalProperties": Spec{Type: Scalar}.schema()}
	strategies := named(strategyName().String(), own, "Settings of strategies, by the strategy's name.")
	root.put(groupStrategies, strategies)
	profile.put(groupStrategies, strategies)
	root.put(groupGrants, named(strategyName().String(), grant, "Exceptions from isolation, by the strategy's name."))
	root.put(groupRequired, named(strategyName().String(), required, "Plugins that must be installed, by the strategy's name."))
	root.put(groupProfiles, named(freeName().String(), profile, "Named sets of settings; profile puts one in force."))

	root["$schema"], root["title"] = schemaDialect, "Settings of thresh"
	raw, err := json.MarshalIndent(root, "", "  ") // maps are written in the order of their keys
	if err != nil {
		panic(err) // the registry holds plain values only
	}
	return append(raw, '\n')
}

type schemaNode map[string]any

// newSchemaNode returns the schema of an object without settings yet. It allows unknown keys with a dot.
func newSchemaNode() schemaNode {
	return schemaNode{"type": []string{"object", "null"}, "properties": schemaNode{}, "additionalProperties": false,
		"patternProperties": schemaNode{`\.`: schemaNode{}}}
}

// named is the schema of an object of like fields with user-chosen names.
func named(pattern string, each schemaNode, meaning string) schemaNode {
	return schemaNode{"type": []string{"object", "null"}, "description": meaning,
		"propertyNames": schemaNode{"pattern": pattern}, "additionalProperties": each}
}

// put adds the schema of a setting under its key, both nested and in full: a file may mix them.
func (n schemaNode) put(key string, setting schemaNode) {
	properties := n["properties"].(schemaNode)
	properties[key] = setting
	group, rest, nested := strings.Cut(key, ".")
	if !nested {
		return
	}
	if _, ok := properties[group]; !ok {
		properties[group] = newSchemaNode()
	}
	properties[group].(schemaNode).put(rest, setting)
}

func (s Spec) schema() schemaNode {
	n := schemaNode{}
	if s.Meaning != "" {
		n["description"] = s.Meaning
	}
	switch s.Type {
	case Boolean:
		n["type"] = "boolean"
	case Integer, Number:
		n["type"] = string(s.Type)
		if s.Min != nil && s.OpenMin {
			n["exclusiveMinimum"] = *s.Min
		} else if s.Min != nil {
			n["minimum"] = *s.Min
		}
		if s.Max != nil {
			n["maximum"] = *s.Max
		}
	// What time.ParseDuration accepts, but no bare number: it could be seconds or milliseconds.
	case Duration:
		n["type"], n["pattern"] = "string", `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`
	case Name:
		n["type"], n["pattern"] = "string", strategyName().String()
	case EnvName:
		n["type"], n["pattern"] = "string", envVariable().String()
	case Strings, Paths:
		element := schemaNode{"type": "string"}
		if len(s.Allowed) > 0 {
			element["enum"] = s.Allowed
		}
		n["type"], n["items"] = "array", element
	case Objects:
		n["type"], n["items"] = "array", schemaNode{"type": "object"}
	case Scalar:
		n["type"] = []string{"string", "number", "boolean"}
	default:
		n["type"] = "string"
		if len(s.Allowed) > 0 {
			n["enum"] = s.Allowed
		}
	}
	s.schemaDefault(n)
	return n
}

// schemaDefault adds the default, unless it depends on the machine or on other settings.
func (s Spec) schemaDefault(n schemaNode) {
	// No lists: editors copy defaults into files, which then miss later changes of the default.
	switch s.Type {
	case Boolean, Integer, Number:
		if s.Default != nil {
			n["default"] = s.Default
		}
	case String, Name:
		if text, ok := s.Default.(string); ok && text != "" && !slices.Contains(s.Allowed, "") {
			n["default"] = text
		}
	}
}
