package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/thresh-dev/thresh/host/config"
)

func TestWrongFiles(t *testing.T) {
	const at = "$WORK/thresh.yaml"
	cases := map[string]struct {
		file string
		want string
	}{
		"broken YAML": {"log:\n  level: [info\n",
			at + ":2: is not valid YAML: did not find expected ',' or ']'"},
		"broken in the first line": {"log: [", at + ":1: is not valid YAML: did not find expected node content"},
		"broken further down": {"log:\n  level: info\n  - a\n",
			at + ":2: is not valid YAML: did not find expected key"},
		"a tab": {"log:\n\n\tlevel: info\n",
			at + ":3: is not valid YAML: found character that cannot start any token"},
		"a colon too many": {"log:\n  level: a: b\n",
			at + ":2: is not valid YAML: mapping values are not allowed in this context"},
		"an unknown anchor": {"\nlog.level: *x\n", at + ":2: is not valid YAML: unknown anchor 'x' referenced"},
		"text": {"hello", at +
			`:1: "hello" is not allowed as the whole file; want a table of settings, such as "compression:"`},
		"a list": {"\n- a", at +
			`:2: a list is not allowed as the whole file; want a table of settings, such as "compression:"`},
		"a tag alone": {"!x", at +
			":1: !x is not allowed as the whole file; want a table of settings, such as \"compression:\""},
		"two documents": {"log.level: info\n---\nlog.level: warn\n",
			at + ":2: begins a second YAML document; want one document in a file"},
		"binary": {"\x7fELF\x00\x01",
			at + ": cannot be read as a file of settings: it is not UTF-8 text"},
		"not UTF-8": {"model.name: \"\xff\"",
			at + ": cannot be read as a file of settings: it is not UTF-8 text"},
		"huge": {strings.Repeat("#", 128<<10+1),
			at + ": cannot be read as a file of settings: it is larger than 131072 bytes"},
		"an unknown key": {"compression:\n  treshold: 0.5\n",
			at + ":2: compression.treshold: unknown setting; did you mean compression.threshold?"},
		"an unknown group": {"\ncompresion:\n  threshold: 0.5\n",
			at + ":2: compresion: unknown setting; did you mean compression?"},
		"an unknown dotted key": {"model.contextlength: 5",
			at + ":1: model.contextlength: unknown setting; did you mean model.contextLimit?"},
		"an unknown key without a": {"zebra: 5", at + ":1: zebra: unknown setting"},
		"a key with an escape":     {`"a\x1b[2J": 5`, at + `:1: "a\x1b[2J": unknown setting`},
		"a key that is a number":   {"7: 5", at + ":1: 7: unknown setting"},
		"a key that is a list":     {"? [a]\n: 5", at + ":1: a list cannot be a key"},
		"a key set twice": {"log.level: info\nmodel.name: a\nlog.level: warn\n",
			at + ":3: log.level: is set twice, first in line 1"},
		"a key set in two ways": {"log.level: info\nlog: {level: warn}\n",
			at + ":2: log.level: is set twice, first in line 1"},
		"a group set twice": {"log: {level: warn}\nlog: {}\n", at + ":2: log: is set twice, first in line 1"},
		"a scalar for a group": {"compression: high-density",
			at + `:1: compression: "high-density" is not allowed; want a table of settings`},
		"a table for a scalar": {"log:\n  level:\n    is: info",
			at + ":3: log.level: a table is not allowed; want one of: trace, debug, info, warn, error"},
		"a list for text":   {"model.name: [a]", at + ":1: model.name: a list is not allowed; want text"},
		"a number for text": {"model.name: 4", at + ":1: model.name: 4 is not allowed; want text"},
		"keys in the clear": {"proxy.upstreams.openai: 'http://u:hidden@10.0.0.1/v1'", at + ":1: proxy.upstreams.openai: " +
			"is not allowed (the value is not shown, as it might be a key); want an https:// address, or an http:// " +
			"address of this machine, without credentials and query"},
		"text for a number": {`compression.threshold: "0.5"`,
			at + `:1: compression.threshold: "0.5" is text because of its quotes; write it without them; ` +
				"want a number above 0 and at most 1"},
		"a quoted integer": {`model.contextLimit: "1000"`,
			at + `:1: model.contextLimit: "1000" is text because of its quotes; write it without them; want an integer above 0`},
		"a quoted flag": {`compression.density.fileDedupe: 'true'`,
			at + `:1: compression.density.fileDedupe: "true" is text because of its quotes; write it without them; want ` +
				"true or false"},
		"below the range": {"compression.threshold: 0",
			at + ":1: compression.threshold: 0 is not allowed; want a number above 0 and at most 1"},
		"above the range": {"compression.preserveThreshold: 1.5",
			at + ":1: compression.preserveThreshold: 1.5 is not allowed; want a number of at least 0 and at most 1"},
		"not a number": {"compression.threshold: .nan",
			at + ":1: compression.threshold: NaN is not allowed; want a number above 0 and at most 1"},
		"a fraction": {"model.contextLimit: 2.5",
			at + ":1: model.contextLimit: 2.5 is not allowed; want an integer above 0"},
		"too large": {"model.contextLimit: 1e300",
			at + ":1: model.contextLimit: 1e+300 is not allowed; want an integer above 0"},
		"yes for true": {"compression.density.fileDedupe: yes",
			at + `:1: compression.density.fileDedupe: "yes" is not allowed; want true or false`},
		"a duration without unit": {"plugins.startTimeout: 10",
			at + ":1: plugins.startTimeout: 10 is not allowed; want a duration above 0, such as 10s or 2m"},
		"a negative duration": {"plugins.startTimeout: -1s",
			at + `:1: plugins.startTimeout: "-1s" is not allowed; want a duration above 0, such as 10s or 2m`},
		"a wrong choice": {"compression.density.partialWrites: pruned",
			at + `:1: compression.density.partialWrites: "pruned" is not allowed; want one of: prune, keep; did ` +
				`you mean prune?`},
		"an unknown encoding": {"model.encoding: gpt2",
			at + `:1: model.encoding: "gpt2" is not allowed; want one of: "", cl100k_base, o200k_base, ` +
				`p50k_base, r50k_base`},
		"a bad name": {"compression.strategy: High Density",
			at + `:1: compression.strategy: "High Density" is not allowed; want a name of lower-case letters, digits ` +
				`and single hyphens, such as high-density`},
		"text for a list": {"plugins.dirs: /a",
			at + `:1: plugins.dirs: "/a" is not allowed; want a list of paths`},
		"an empty path in a list": {"plugins.dirs:\n- /a\n- ''",
			at + `:3: plugins.dirs[1]: "" is not allowed; want a list of paths`},
		"a null in a list": {"plugins.dirs: [~]",
			at + `:1: plugins.dirs[0]: null is not allowed; want a list of paths`},
		"a table in a list": {"plugins.dirs: [{}]",
			at + `:1: plugins.dirs[0]: a table is not allowed; want a list of paths`},
		"a rule that is text": {"compression.density.tools:\n- {}\n- edit",
			at + `:3: compression.density.tools[1]: "edit" is not an object; want a list of objects`},
		"a rule with a key twice": {"compression.density.tools:\n- {a: 1, a: 2}",
			at + `:2: compression.density.tools: this list cannot be used: line 2: mapping key "a" already ` +
				`defined at line 2; want a list of objects`},
		"an alias in a rule": {"compression.density.tools:\n- &r {a: 1}\n- b: *r\n",
			at + ":2: compression.density.tools: this list cannot be used: line 3 has an alias of YAML, which is not " +
				"supported; want a list of objects"},
		"a rule with a key that is no text": {"compression.density.tools:\n- {a: {1: 2}}",
			at + ":2: compression.density.tools: this list cannot be used: JSON has no keys but text, and " +
				"no infinite numbers; want a list of objects"},
		"an alias": {"model: &m {name: a}\nprofiles: {p: {model: *m}}",
			at + ":2: profiles.p.model: aliases of YAML are not supported: write the value out"},
		"a merge key": {"model: &m {name: a}\nprofiles: {p: {<<: *m}}",
			at + ":2: profiles.p.<<: merge keys of YAML are not supported: write the settings out"},
		"a tag": {"model.name: !!binary aGk=",
			at + ":1: model.name: !!binary aGk= is not allowed; want text"},
		"a profile in a profile": {"profiles: {p: {profile: q}}",
			at + ":1: profiles.p.profile: cannot be set in a profile"},
		"profiles in a profile": {"profiles: {p: {profiles: {}}}",
			at + ":1: profiles.p.profiles: a profile cannot hold profiles"},
		"a wrong key in a profile": {"profiles: {p: {modle.name: q}}",
			at + ":1: profiles.p.modle.name: unknown setting; did you mean profiles.p.model.name?"},
		"a wrong profile name": {"profiles:\n  gpt-4.1: {}",
			at + ":2: profiles.gpt-4.1: a name here consists of letters, digits, hyphens and underscores, " +
				"without a dot"},
		"an undefined profile": {"profile: smal\nprofiles: {small: {}}",
			at + `:1: profile: "smal" is not a profile; want one of: small; did you mean small?`},
		"no profile at all": {"compression.profile: llm",
			at + `:1: compression.profile: "llm" is not a profile; want a profile that is defined under profiles; ` +
				`there is none`},
		"no room for history": {"model:\n  contextLimit: 1000\n  completionBudget: 1000", at +
			":3: model.completionBudget: 1000 leaves nothing of the context window; want less than " +
			"model.contextLimit, which is 1000 (config file $WORK/thresh.yaml:2)"},
		"a table in a strategy's settings": {"strategies: {a: {b: {c: 1}}}",
			at + ":1: strategies.a.b: a table is not allowed; want text, a number, true or false"},
		"a wrong strategy's name": {"strategies: {A: {b: 1}}",
			at + ":1: strategies.A: a strategy's name consists of lower-case letters, digits and single hyphens"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.projectFile(), c.file)
			o := m.options()
			o.ConfigFile = m.projectFile() // as such it may set anything
			_, err := config.Load(o)
			if diff := cmp.Diff([]string{c.want}, m.messages(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWrongEnvironmentAndFlags(t *testing.T) {
	cases := map[string]struct {
		env      []string
		override config.Override
		want     string
	}{
		"a wrong variable": {env: []string{"THRESH_COMPRESSION_THRESHOLD=high"},
			want: `THRESH_COMPRESSION_THRESHOLD: compression.threshold: "high" is not allowed; want a number above ` +
				`0 and at most 1`},
		"an unknown flag": {override: flag("threshold", "1"),
			want: "--set: threshold: unknown setting; did you mean compression.threshold?"},
		"a wrong flag": {override: flag("log.level", "loud"),
			want: `--set: log.level: "loud" is not allowed; want one of: trace, debug, info, warn, error`},
		"an unknown preset": {override: flag("compression.density.toolPresets", "codex,llxpr"),
			want: "--set: compression.density.toolPresets[1]: \"llxpr\" is not allowed; want PRESETS; did you " +
				"mean llxprt?"},
		"a group": {override: flag("serve.tls", "info"),
			want: "--set: serve.tls: is a group of settings; want one of: serve.tls.cert, serve.tls.key"},
		"a profile without key": {override: flag("profiles.p", "x"),
			want: "--set: profiles.p: is a group of settings; want profiles.<name>.<setting>"},
		"a strategy without key": {override: flag("strategies.a", "x"),
			want: "--set: strategies.a: is a group of settings; want strategies.<name>.<key>"},
		"a strategy's key too far": {override: flag("strategies.a.b.c", "x"),
			want: "--set: strategies.a.b.c: the key of a strategy's own setting consists of letters, digits, hyphens " +
				"and underscores"},
		"no key": {override: flag("", "x"), want: "--set: unknown setting"},
		"broken JSON": {override: flag("compression.density.tools", "[{]"),
			want: `--set: compression.density.tools: "[{]" is not allowed; want a list of objects`},
		"a list for a strategy's setting": {override: flag("strategies.a.b", []any{1}),
			want: "--set: strategies.a.b: a list is not allowed; want text, a number, true or false"},
		"a rule that is no object": {override: flag("compression.density.tools", "[{}, 1]"),
			want: "--set: compression.density.tools[1]: 1 is not an object; want a list of objects"},
		"a number for a list": {override: flag("plugins.dirs", 1),
			want: "--set: plugins.dirs: 1 is not allowed; want a list of paths"},
		"a type of Go": {override: flag("model.name", struct{}{}),
			want: "--set: model.name: {} is not allowed; want text"},
		"an undefined profile": {override: flag("profile", "p"),
			want: `--set: profile: "p" is not a profile; want a profile that is defined under profiles; there is none`},
		"no room for history": {override: flag("model.completionBudget", "200000"),
			want: "--set: model.completionBudget: 200000 leaves nothing of the context window; " +
				"want less than model.contextLimit, which is 200000 (default)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			o := m.options(c.env...)
			if c.env == nil {
				o.Overrides = []config.Override{c.override}
			}
			_, err := config.Load(o)
			got := m.messages(err)
			for _, s := range config.Specs() {
				if s.Key == "compression.density.toolPresets" {
					got[0] = strings.Replace(got[0], s.Want(), "PRESETS", 1)
				}
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Variables that are no settings stop nothing: others than users put them there.
func TestStrayVariables(t *testing.T) {
	m := newMachine(t)
	env := []string{"THRESH_COMPRESSION_TRESHOLD=1", "THRESH_PROFILES_P_LOG_LEVEL=info", "THRESH_LOG_LEVEL=debug",
		"THRESH_SERVICE_HOST=10.0.0.1", "THRESH_SERVICE_PORT=7440", "THRESH_SERVICE_PORT_HTTP=7440",
		"THRESH_PORT=tcp://10.0.0.1:7440", "THRESH_PORT_7440_TCP=tcp://10.0.0.1:7440", "THRESH_PORT_7440_TCP_PROTO=tcp",
		"THRESH_PORT_7440_TCP_PORT=7440", "THRESH_PORT_7440_TCP_ADDR=10.0.0.1", "THRESH_PROXY_PORT=tcp://10.0.0.2:80"}
	for i := range 1000 {
		env = append(env, fmt.Sprintf("THRESH_STRANGER_%d=x", i))
	}
	c, err := config.Load(m.options(env...))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Settings().Log.Level; got != "debug" {
		t.Errorf("log.level is %q", got)
	}
	stray := m.messages(errors.Join(c.Stray()...))
	want := []string{
		"THRESH_COMPRESSION_TRESHOLD: unknown setting in the environment; did you mean THRESH_COMPRESSION_THRESHOLD?",
		"THRESH_PROFILES_P_LOG_LEVEL: unknown setting in the environment",
		"THRESH_STRANGER_0: unknown setting in the environment",
	}
	if len(stray) != 22 || !slices.Equal(stray[:3], want) || stray[20] != "and 982 more variables that are no settings" {
		t.Errorf("%d are stray:\n%s", len(stray), strings.Join(stray, "\n"))
	}
	if last := stray[len(stray)-1]; !strings.HasPrefix(last, "THRESH_PORT, THRESH_PORT_7440_TCP,") ||
		!strings.HasSuffix(last, ": of a Kubernetes Service, no settings") {
		t.Errorf("the last is %q", last)
	}
}

func TestAllProblemsAreReportedTogether(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "log.level: loud\nprofiles: {p: {model.contextLimit: no}}\n")
	m.write(m.projectFile(), "profile: q\nmodel.completionBudget: -1\n")
	o := m.options("THRESH_MODEL_CONTEXT_LIMIT=1k")
	o.Overrides = []config.Override{flag("model.name", 1)}
	_, err := config.Load(o)
	want := []string{
		`~/.config/thresh/thresh.yaml:1: log.level: "loud" is not allowed; want one of: trace, debug, ` +
			`info, warn, error`,
		`~/.config/thresh/thresh.yaml:2: profiles.p.model.contextLimit: "no" is not allowed; want an integer above 0`,
		"$WORK/thresh.yaml:2: model.completionBudget: -1 is not allowed; want an integer of at least 0",
		`THRESH_MODEL_CONTEXT_LIMIT: model.contextLimit: "1k" is not allowed; want an integer above 0`,
		"--set: model.name: 1 is not allowed; want text",
		`$WORK/thresh.yaml:1: profile: "q" is not a profile; want one of: p; did you mean p?`,
	}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}
}

func TestAFloodOfProblemsIsCutShort(t *testing.T) {
	m := newMachine(t)
	var b strings.Builder
	for i := range 8_000 {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	m.write(m.projectFile(), b.String())
	_, err := config.Load(m.options())
	got := m.messages(err)
	if len(got) != 21 || got[20] != "and 7980 more problems" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

func TestAFileThatCannotBeReadHidesNothingElse(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "profiles: {p: [}")
	m.write(m.projectFile(), "profile: p\nlog.level: 1\n")
	_, err := config.Load(m.options())
	want := []string{
		"~/.config/thresh/thresh.yaml:1: is not valid YAML: did not find expected node content",
		"$WORK/thresh.yaml:2: log.level: 1 is not allowed; want one of: trace, debug, info, warn, error",
	}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}
}

func TestFilesThatAreNoFiles(t *testing.T) {
	m := newMachine(t)
	if err := os.Mkdir(m.projectFile(), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(m.options())
	want := []string{"$WORK/thresh.yaml: cannot be read as a file of settings: it is a directory"}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}

	o := m.options()
	o.ConfigFile = "missing.yaml"
	_, err = config.Load(o)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not fs.ErrNotExist: %v", err)
	}
	want = []string{"$WORK/missing.yaml: cannot be read as a file of settings: no such file or directory"}
	if diff := cmp.Diff(want, m.messages(err)); diff != "" {
		t.Error(diff)
	}

	o.ConfigFile = os.DevNull
	if _, err := config.Load(o); err != nil {
		t.Errorf("the null device: %v", err)
	}
	o.ConfigFile = "/dev/zero"
	if _, err := config.Load(o); err == nil || !strings.HasSuffix(err.Error(), "it is not a regular file") {
		t.Errorf("a device: %v", err)
	}
}

func TestParseOverride(t *testing.T) {
	got, err := config.ParseOverride("model.name=a=b", "--set")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(flag("model.name", "a=b"), got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "model.name", "=a"} {
		_, err := config.ParseOverride(text, "--set")
		want := fmt.Sprintf("--set: %q is not allowed; want key=value, such as compression.threshold=0.8", text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
