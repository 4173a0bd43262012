package service_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/config"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/network"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/host/internal/window"
	"github.com/thresh-dev/thresh/host/outcome"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/content"
)

var update = flag.Bool("update", false, "write openapi.json, and the tables in docs/api.md")

const (
	schemas  = "#/components/schemas/"
	entries  = "../../../docs/schema/entry.schema.json"
	openAPI  = "openapi.json"
	apiGuide = "../../../docs/api.md"
)

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: schemas + name} }

// named are the types that are described once.
var named = map[reflect.Type]string{
	reflect.TypeFor[outcome.Outcome]():   "Outcome",
	reflect.TypeFor[outcome.Logged]():    "Change",
	reflect.TypeFor[outcome.Passage]():   "Passage",
	reflect.TypeFor[outcome.Plugin]():    "Plugin",
	reflect.TypeFor[sdk.Todo]():          "Todo",
	reflect.TypeFor[api.PrepareAnswer](): "PrepareAnswer",
	reflect.TypeFor[api.Error]():         "Failure",
	reflect.TypeFor[api.Listed]():        "Listed",
	reflect.TypeFor[api.Removed]():       "Removed",
}

// raw says what the members are that the host takes or returns as they are.
var raw = map[string]*jsonschema.Schema{
	"entries":      {Type: "array", Items: ref("Entry")},
	"messages":     {Type: "array", Items: &jsonschema.Schema{Type: "object"}},
	"system":       {Types: []string{"string", "array", "null"}, Items: &jsonschema.Schema{Type: "object"}},
	"instructions": {Types: []string{"string", "array", "null"}, Items: &jsonschema.Schema{Type: "object"}},
	"format":       {Enum: []any{"", "anthropic", "openai-chat", "openai-responses"}},
}

// schemaOf describes a type. A strict one has the members that are known, as what is sent to a host has them; what it
// answers may have more in a later version. null stands for an absent member.
func schemaOf(t *testing.T, of reflect.Type, strict bool) *jsonschema.Schema {
	t.Helper()
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[content.Content](): ref("Entry"),
		reflect.TypeFor[json.RawMessage](): {},
	}
	for other, name := range named {
		if other != of {
			types[other] = ref(name)
		}
	}
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		t.Fatalf("%v: %v", of, err)
	}
	for name, known := range raw {
		if p := s.Properties[name]; p != nil && p.Type != "integer" && !(name == "system" && len(p.Types) > 0) {
			k := known.CloneSchemas()
			k.Description = p.Description
			s.Properties[name] = k
		}
	}
	tidy(s, strict)
	return s
}

func tidy(s *jsonschema.Schema, strict bool) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		s.Types = nil
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	if s.Properties != nil && !strict {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		tidy(p, strict)
	}
	if tidy(s.Items, strict); s.Type == "object" && s.Properties == nil && len(s.Required) == 0 {
		tidy(s.AdditionalProperties, strict)
	}
}

// document makes the description of what is served over HTTP.
func document(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(entries)
	if err != nil {
		t.Fatal(err)
	}
	var entry map[string]any
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	delete(entry, "$schema")
	all := map[string]any{"Entry": entry, "Error": map[string]any{
		"type": "object", "required": []string{"error"}, "properties": map[string]any{"error": ref("Failure")},
	}}
	for of, name := range named {
		if of != reflect.TypeFor[sdk.Todo]() {
			all[name] = schemaOf(t, of, false)
		}
	}
	// It has itself in it, which ForType refuses.
	all["Todo"] = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{
		"id": {Type: "string"}, "content": {Type: "string"},
		"status":   {Type: "string", Description: "pending, in_progress or completed"},
		"subtasks": {Type: "array", Items: ref("Todo")},
	}, PropertyOrder: []string{"id", "content", "status", "subtasks"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	// typed describes a type once. What others send may have members that are not known.
	typed := func(of reflect.Type, strict bool) *jsonschema.Schema {
		if _, done := all[of.Name()]; !done {
			all[of.Name()] = schemaOf(t, of, strict)
		}
		return ref(of.Name())
	}
	operation := func(id, meaning string, params *jsonschema.Schema, result reflect.Type, lines bool) map[string]any {
		kind, what := "application/json", "the result"
		if lines {
			kind, what = "application/jsonl", "lines, each an object; the last may be an Error"
		}
		o := map[string]any{"operationId": id, "summary": meaning,
			"parameters": []any{map[string]any{"$ref": "#/components/parameters/Timeout"}},
			"responses": map[string]any{"default": map[string]any{"$ref": "#/components/responses/Failed"},
				"200": map[string]any{"description": what,
					"content": map[string]any{kind: map[string]any{"schema": typed(result, false)}}}},
		}
		if params != nil {
			o["requestBody"] = map[string]any{"required": true, "content": map[string]any{
				"application/json": map[string]any{"schema": params}}}
		}
		return o
	}
	paths := map[string]map[string]any{}
	for _, m := range service.At(api.Served) {
		paths["/v1/"+m.Name] = map[string]any{
			"post": operation(m.Name, m.Meaning, typed(m.Params, true), m.Result, m.Lines)}
	}
	for _, g := range service.Gateway() {
		if paths[g.Path] == nil {
			paths[g.Path] = map[string]any{}
		}
		var params *jsonschema.Schema
		if g.Params != nil {
			params = typed(g.Params, false)
		}
		o := operation(strings.ToLower(g.Verb)+"."+strings.Split(g.Path, "/")[2],
			g.Method+" for gateways that speak Headroom's contract.", params, g.Result, false)
		if params == nil {
			o["parameters"] = append(o["parameters"].([]any), map[string]any{"name": "id", "in": "path", "required": true,
				"schema": map[string]any{"type": "string"}})
		}
		paths[g.Path][strings.ToLower(g.Verb)] = o
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "thresh serve", "version": "1",
			"description": "Keeps an agent's conversation under its model's context limit. docs/api.md has examples."},
		"servers":  []any{map[string]any{"url": "http://127.0.0.1:7440"}},
		"security": []any{map[string]any{"token": []any{}}},
		"paths":    paths,
		"components": map[string]any{"schemas": all,
			"responses": map[string]any{"Failed": map[string]any{
				"description": "an error: docs/api.md has the status of each kind",
				"content":     map[string]any{"application/json": map[string]any{"schema": ref("Error")}}}},
			"parameters": map[string]any{"Timeout": map[string]any{"name": "X-Thresh-Timeout-Ms", "in": "header",
				"description": "the client's deadline, in milliseconds from now",
				"schema":      map[string]any{"type": "integer", "minimum": 1}}},
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}}},
	}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOpenAPIIsCurrent: it is what the table and the types say.
func TestOpenAPIIsCurrent(t *testing.T) {
	want := document(t)
	if *update {
		if err := os.WriteFile(openAPI, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want, service.OpenAPI) {
		t.Error("openapi.json is not what the methods are: 'make docs' writes it")
	}
}

// TestTheGuideHasAllMethods: the tables of docs/api.md are made of the same.
func TestTheGuideHasAllMethods(t *testing.T) {
	page, err := os.ReadFile(apiGuide)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for name, part := range map[string]string{"methods": methods(t), "errors": kinds(t)} {
		before, rest, ok := strings.Cut(text, "<!-- "+name+": made by 'make docs' -->\n")
		_, after, ends := strings.Cut(rest, "<!-- end of "+name+" -->")
		if !ok || !ends {
			t.Fatalf("docs/api.md has no place for %s", name)
		}
		text = before + "<!-- " + name + ": made by 'make docs' -->\n" + part + "<!-- end of " + name + " -->" + after
	}
	if *update {
		if err := os.WriteFile(apiGuide, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(page) {
		t.Error("docs/api.md is not what the methods are: 'make docs' writes it")
	}
}

func methods(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n" + prose("A method of an open session takes session, its id, which the tables leave out. ? marks "+
		"what is optional.") + "\n")
	for _, m := range api.Methods() {
		only := map[api.Door]string{api.Run: " Only `thresh run`.", api.Served: " Only `thresh serve`."}[m.Only]
		if m.Check == api.Local {
			only += " Only for the local user."
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", m.Name, prose(m.Meaning+only))
		parameters(t, &b, m.Params)
		members(t, &b, "Result", m.Result)
	}
	return b.String() + "\n"
}

// code are the names of methods, settings and members in a text.
var code = regexp.MustCompile("\\b(?:[a-z]+\\.[a-zA-Z]+|pendingTokens|cache_control|format|since|keep|prepared|" +
	"entries|session)\\b")

// prose is text for a page: names in code style, in lines of at most 120 columns.
func prose(text string) string {
	names := map[string]bool{}
	for _, m := range api.Methods() {
		names[m.Name] = true
	}
	for _, s := range config.Specs() {
		names[s.Key] = true
	}
	text = code.ReplaceAllStringFunc(text, func(word string) string {
		if strings.Contains(word, ".") && !names[word] && word != "compress.kind" || word == "session" || word == "entries" {
			return word
		}
		return "`" + word + "`"
	})
	return wrapped(strings.Replace(text, " take session, ", " take `session`, ", 1))
}

func wrapped(text string) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 120 {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}

// parameters writes a table of the members of a type, but for the session that all are about.
func parameters(t *testing.T, b *strings.Builder, of reflect.Type) {
	s := schemaOf(t, of, true)
	var rows []string
	for _, name := range s.PropertyOrder {
		if name != "session" || of == reflect.TypeFor[api.WatchRequest]() {
			p := s.Properties[name]
			if !slices.Contains(s.Required, name) {
				name += "?"
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, typeName(p), p.Description))
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| parameter | type | meaning |\n|---|---|---|\n%s", strings.Join(rows, ""))
	}
}

// members writes a line with the members of a type.
func members(t *testing.T, b *strings.Builder, what string, of reflect.Type) {
	s := schemaOf(t, of, false)
	var all []string
	for _, name := range s.PropertyOrder {
		one := "`" + name + "`"
		if about := s.Properties[name].Description; about != "" {
			one += " (" + about + ")"
		}
		all = append(all, one)
	}
	if len(all) > 0 {
		fmt.Fprintf(b, "\n%s\n", wrapped(what+": "+strings.Join(all, ", ")+"."))
	}
}

func typeName(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		return strings.ToLower(strings.TrimPrefix(s.Ref, schemas))
	case s.Ref == "" && s.Items != nil && len(s.Types) > 0:
		return "string or array"
	case s.Items != nil && s.Items.Ref != "":
		return "array of " + typeName(s.Items)
	case len(s.Enum) > 0:
		return "`anthropic`, `openai-chat` or `openai-responses`"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

func kinds(t *testing.T) string {
	var b strings.Builder
	members(t, &b, "Fields", reflect.TypeFor[api.Error]())
	b.WriteString("\n| kind | status | meaning | what to do |\n|---|---|---|---|\n")
	for _, k := range api.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", k.Kind, k.Status, k.Meaning, k.Do)
	}
	return b.String() + "\n"
}

// checks returns what checks a value against a schema of the document, by its name.
func checks(t *testing.T) func(name string, text []byte) error {
	t.Helper()
	var doc struct {
		Components struct {
			Schemas map[string]*jsonschema.Schema
		}
	}
	if err := json.Unmarshal(bytes.ReplaceAll(service.OpenAPI, []byte(schemas), []byte("#/$defs/")), &doc); err != nil {
		t.Fatal(err)
	}
	return func(name string, text []byte) error {
		root := &jsonschema.Schema{Ref: "#/$defs/" + name, Defs: doc.Components.Schemas}
		resolved, err := root.CloneSchemas().Resolve(nil)
		if err != nil {
			return err
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		return resolved.Validate(value)
	}
}

func TestASchemaOfTheDocumentChecks(t *testing.T) {
	check := checks(t)
	for text, want := range map[string]bool{
		`{"session":"s","entries":[{"speaker":"human","blocks":[{"type":"text","text":"x"}]}]}`: true,
		`{"session":"s","entries":[{"speaker":"robot","blocks":[{"type":"text","text":"x"}]}]}`: false,
		`{"entries":[]}`:                false,
		`{"session":"s","nosuch":true}`: false,
		`{"session":"s","format":"openai-chat","messages":[{"role":"user","content":"x"}],"system":null}`: true,
	} {
		if err := check("AddRequest", []byte(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMain(m *testing.M) {
	host.ReexecMain()
	m.Run()
}

// served is a service, with the access token "token", until the test ends.
func served(t *testing.T) (url string) {
	t.Helper()
	url, _ = servedFrom(t, store.NewMemory())
	return url
}

// servedFrom is one that keeps its sessions in a store.
func servedFrom(t *testing.T, kept store.Store) (url string, machine *window.Host) {
	t.Helper()
	c, err := config.Load(config.Options{ConfigFile: os.DevNull, Env: []string{},
		Overrides: []config.Override{{Key: "compression.strategy", Value: "top-down-truncation"}}})
	if err != nil {
		t.Fatal(err)
	}
	log := hclog.NewNullLogger()
	machine, err = window.Open(window.Options{Config: c, Logger: log, Store: kept, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(machine.Store(), "token", log)
	alone := proxy.New(proxy.Options{Host: machine, Guard: guard, Recall: &proxy.Recall{}, Logger: log})
	l, err := network.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- network.Serve(ctx, l, nil, time.Second, network.Options{Host: host.Of(machine), Log: log,
			Guard: guard, Store: machine.Store(), Alone: alone})
	}()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if cancel(); <-ended != nil {
			t.Error("it ended badly")
		}
		alone.Close()
		machine.Close()
	})
	return network.URL(l, false), machine
}

// TestRealRequestsAndAnswers of every method over HTTP are as the document says.
func TestRealRequestsAndAnswers(t *testing.T) {
	url := served(t)
	post := func(ctx context.Context, method, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/"+method, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer token")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	check, seen := checks(t), map[string]bool{}
	answers := func(m *api.Method, body string, lines *bufio.Scanner, status int) {
		t.Helper()
		malformed := status == http.StatusBadRequest && !bytes.Contains(lines.Bytes(), []byte(`"kind":"setting"`))
		if err := check(m.Params.Name(), []byte(body)); (err == nil) == malformed {
			t.Errorf("%s: the request %s: %v", m.Name, body, err)
		}
		of := m.Result.Name()
		if status != http.StatusOK {
			of = "Error"
		}
		if err := check(of, lines.Bytes()); err != nil {
			t.Errorf("%s: the answer %s: %v", m.Name, lines.Bytes(), err)
		}
		seen[m.Name] = seen[m.Name] || status == http.StatusOK
	}
	watching, leave := context.WithCancel(t.Context())
	defer leave()
	watch := post(watching, "session.watch", `{}`)
	defer watch.Body.Close()
	turns := bufio.NewScanner(watch.Body)
	turns.Buffer(nil, 1<<20)
	many := `{"speaker":"human","blocks":[{"type":"text","text":"` + strings.Repeat("word ", 500) + `"}]}`
	for _, c := range []struct {
		method, body string
		status       int
	}{
		{"initialize", `{}`, 200}, {"session.list", `{"limit":5}`, 200},
		{"session.open", `{"id":"s","settings":{"model.contextLimit":2000},"system":"be brief"}`, 200},
		{"session.setSystem", `{"session":"s","system":[{"type":"text","text":"be brief","cache_control":{}}]}`, 200},
		{"session.set", `{"session":"s","key":"compression.threshold","value":0.6}`, 200},
		{"history.add", `{"session":"s","entries":[` + many + `,` + many + `,` + many + `,` + many + `],"key":"k"}`, 200},
		{"history.add", `{"session":"s","format":"anthropic","messages":[{"role":"user","content":"x"}]}`, 200},
		{"history.add", `{"session":"s","entries":[{"speaker":"robot","blocks":[]}]}`, 400},
		{"history.add", `{"session":"s","entry":{}}`, 400}, {"session.get", `{"session":"t"}`, 404},
		{"window.prepare", `{"session":"s","pendingTokens":10}`, 200},
		{"window.prepare", `{"session":"s","format":"openai-chat","since":2}`, 200},
		{"window.prepare", `{"session":"s","pendingTokens":100000}`, 422},
		{"history.compress", `{"session":"s"}`, 200}, {"usage.report", `{"session":"s","promptTokens":10}`, 200},
		{"todos.set", `{"session":"s","todos":[{"id":"1","content":"x","status":"pending","subtasks":[]}]}`, 200},
		{"session.get", `{"session":"s"}`, 200}, {"session.list", `{}`, 200},
		{"history.get", `{"session":"s"}`, 200}, {"history.recorded", `{"session":"s","id":"e1"}`, 200},
		{"history.recorded", `{"session":"s","id":"e99"}`, 404}, {"history.search", `{"session":"s","query":"word"}`, 200},
		{"history.search", `{"session":"s","place":{"entry":"e1","block":0,"line":1,"lines":9}}`, 200},
		{"history.search", `{"session":"s","place":{"entry":"e99","block":0,"line":1,"lines":9}}`, 404},
		{"history.explain", `{"session":"s"}`, 200}, {"tokens.count", `{"entries":[` + many + `]}`, 200},
		{"messages.compress", `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`, 200},
		{"messages.compress", `{"messages":"x"}`, 400},
		{"messages.retrieve", `{"id":"123456789012345678901234"}`, 404},
		{"plugins.list", `{}`, 200}, {"plugins.reset", `{"name":"distill"}`, 200},
		{"plugins.lock", `{"names":["nosuch"]}`, 400}, {"session.close", `{"session":"s"}`, 200},
		{"session.delete", `{"session":"s"}`, 200},
	} {
		answer := post(t.Context(), c.method, c.body)
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		lines.Scan()
		if answer.Body.Close(); answer.StatusCode != c.status {
			t.Errorf("%s %s: %s: %s", c.method, c.body, answer.Status, lines.Bytes())
		}
		m, err := service.Find(api.Served, c.method)
		if err != nil {
			t.Fatal(err)
		}
		answers(m, c.body, lines, answer.StatusCode)
	}
	m, _ := service.Find(api.Served, "session.watch")
	for range 3 { // it has begun, and two turns
		turns.Scan()
		answers(m, `{}`, turns, watch.StatusCode)
	}
	seen["messages.retrieve"] = true // see TestAGatewayOfHeadroomsContract
	seen["plugins.lock"] = true      // there is no lock file here
	for _, m := range service.At(api.Served) {
		if !seen[m.Name] {
			t.Errorf("%s has not succeeded here", m.Name)
		}
	}
}
