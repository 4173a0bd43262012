package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/host/config"
)

// What a stranger's checkout could do harm with.
func TestWhatAProjectFileCannotSet(t *testing.T) {
	const is = ": cannot be set in a project's file, which may come from a stranger; want it in " +
		"~/.config/thresh/thresh.yaml, a file named with --config"
	cases := map[string]struct {
		file string
		want []string
	}{
		"where programs come from": {"plugins:\n  dirs: [bin]\n", []string{
			"$WORK/thresh.yaml:2: plugins.dirs" + is + ", THRESH_PLUGINS_DIRS or --set"}},
		"that anything runs": {"plugins.integrity: off\nplugins.lockFile: ./plugins.lock\n", []string{
			"$WORK/thresh.yaml:1: plugins.integrity" + is + ", THRESH_PLUGINS_INTEGRITY or --set",
			"$WORK/thresh.yaml:2: plugins.lockFile" + is + ", THRESH_PLUGINS_LOCK_FILE or --set"}},
		"that nothing is kept from it": {"plugins.isolation: off\nplugins.grants: {own: {network: true}}\n", []string{
			"$WORK/thresh.yaml:1: plugins.isolation" + is + ", THRESH_PLUGINS_ISOLATION or --set",
			"$WORK/thresh.yaml:2: plugins.grants.own.network" + is + " or --set"}},
		"which program is fetched": {"plugins.required: {own: {source: github.com/evil/own}}\nplugins.registry: " +
			"https://evil.example\nplugins.registryHeader: AWS_SECRET_ACCESS_KEY\n", []string{
			"$WORK/thresh.yaml:1: plugins.required.own.source" + is + " or --set",
			"$WORK/thresh.yaml:2: plugins.registry" + is + ", THRESH_PLUGINS_REGISTRY or --set",
			"$WORK/thresh.yaml:3: plugins.registryHeader" + is + ", THRESH_PLUGINS_REGISTRY_HEADER or --set"}},
		"in a profile": {"profile: p\nprofiles: {p: {plugins.integrity: off}}\n", []string{
			"$WORK/thresh.yaml:2: profiles.p.plugins.integrity" + is + " or --set"}},
		"where a key goes": {"profiles.p.provider: {kind: openai, model: m, baseURL: 'https://example.com/v1', " +
			"keyEnv: AWS_SECRET_ACCESS_KEY}", []string{
			"$WORK/thresh.yaml:1: profiles.p.provider.kind" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.model" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.baseURL" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.keyEnv" + is + " or --set"}},
		"what a model costs": {"profiles.p.provider: {model: dearest, timeout: 1000h, retries: 10, prices: {input: " +
			"0}}\ncompression.llm.maxTokens: 9000000000", []string{
			"$WORK/thresh.yaml:1: profiles.p.provider.model" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.timeout" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.retries" + is + " or --set",
			"$WORK/thresh.yaml:1: profiles.p.provider.prices.input" + is + " or --set",
			"$WORK/thresh.yaml:2: compression.llm.maxTokens" + is + ", THRESH_COMPRESSION_LLM_MAX_TOKENS or --set"}},
		"how long it hangs": {"plugins.startTimeout: 10000h", []string{
			"$WORK/thresh.yaml:1: plugins.startTimeout" + is + ", THRESH_PLUGINS_START_TIMEOUT or --set"}},
		"where conversations go": {"transcript.dir: /net/elsewhere", []string{
			"$WORK/thresh.yaml:1: transcript.dir" + is + ", THRESH_TRANSCRIPT_DIR or --set"}},
		"a key by mistake": {"profiles.p.provider.keyEnv: sk-hidden", []string{
			"$WORK/thresh.yaml:1: profiles.p.provider.keyEnv" + is + " or --set"}},
		"a profile that does it": {"profile: free", []string{
			`$WORK/thresh.yaml:1: profile: "free" cannot be chosen in a project's file, which may come from ` +
				`a stranger: ` +
				"the profile sets plugins.integrity (~/.config/thresh/thresh.yaml:1); want it in " +
				"~/.config/thresh/thresh.yaml, a file named with --config, THRESH_PROFILE or --set"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.userFile(), "profiles.free: {plugins.integrity: off, model.name: mine}\n")
			m.write(m.projectFile(), c.file)
			_, err := config.Load(m.options())
			if diff := cmp.Diff(c.want, m.messages(err)); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("a key is shown: %v", err)
			}
		})
	}
}

// A profile of the user's may be what keeps plugins in.
func TestAProjectFileCannotTakeTheUsersProfileOutOfForce(t *testing.T) {
	const (
		safe  = "profiles.safe: {plugins.isolation: strict, transcript.dir: /audit}\n"
		other = "profiles.safe: {model.name: mine}\n"
	)
	for name, c := range map[string]struct {
		user, project, env string
		want               []string // nil: it is loaded
	}{
		"by none": {user: "profile: safe\n" + safe, project: `profile: ""`, want: []string{
			`$WORK/thresh.yaml:1: profile: "" cannot be chosen in a project's file, which may come from a stranger: ` +
				`it takes profile safe out of force, ` +
				"which sets plugins.isolation (~/.config/thresh/thresh.yaml:2); want it in " +
				"~/.config/thresh/thresh.yaml, a file named with --config, THRESH_PROFILE or --set"}},
		"by another": {user: "profile: safe\n" + safe, project: "profile: mine\nprofiles.mine: {model.name: x}\n",
			want: []string{
				`$WORK/thresh.yaml:1: profile: "mine" cannot be chosen in a project's file, which may come from ` +
					`a stranger: it takes profile safe out of force, ` +
					"which sets plugins.isolation (~/.config/thresh/thresh.yaml:2); want it in " +
					"~/.config/thresh/thresh.yaml, a file named with --config, THRESH_PROFILE or --set"}},
		"the same":                 {user: "profile: safe\n" + other, project: "profile: safe"},
		"one without trusted keys": {user: "profile: safe\n" + other, project: `profile: ""`},
		"one that is not in force": {user: safe, project: `profile: ""`},
		"the environment decides": {user: "profile: safe\n" + safe, project: `profile: ""`,
			env: "THRESH_PROFILE=safe"},
		"the environment takes it": {user: "profile: safe\n" + safe, project: "profiles.mine: {model.name: x}\n",
			env: "THRESH_PROFILE=mine"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.userFile(), c.user)
			m.write(m.projectFile(), c.project)
			o := m.options()
			if c.env != "" {
				o = m.options(c.env)
			}
			if c.want == nil {
				m.load(o)
				return
			}
			_, err := config.Load(o)
			if diff := cmp.Diff(c.want, m.messages(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The same text is fine wherever the user has put it, or said that it is meant.
func TestWhoMaySetWhatAProjectFileCannot(t *testing.T) {
	m := newMachine(t)
	m.write(m.projectFile(), "plugins.integrity: off\n")
	named := m.options()
	named.ConfigFile = "thresh.yaml"
	if got := m.load(named).Settings().Plugins.Integrity; got != "off" {
		t.Errorf("by --config: %s", got)
	}
	m.write(m.projectFile(), "plugins.integrity: ~\nprofile: free\n")
	m.write(m.userFile(), "profiles.free: {model.name: mine}\nplugins.integrity: locked\n")
	if got := m.load(m.options()).Settings(); got.Plugins.Integrity != "locked" || got.Model.Name != "mine" {
		t.Errorf("by the user's file: %+v", got.Plugins)
	}
	if got := m.load(m.options("THRESH_PLUGINS_INTEGRITY=off")).Settings().Plugins.Integrity; got != "off" {
		t.Errorf("by the environment: %s", got)
	}
	m.write(m.userFile(), "profiles.free: {plugins.integrity: off}\n")
	m.write(m.projectFile(), "profiles.free: {model.name: of the project}\n")
	o := m.options()
	o.Profile = "free"
	if got := m.load(o).Settings(); got.Plugins.Integrity != "off" || got.Model.Name != "of the project" {
		t.Errorf("by a flag: %s, %s", got.Plugins.Integrity, got.Model.Name)
	}
}

// In the user's own directory the file is found twice, and is the user's.
func TestTheUsersFileIsNoProjectFile(t *testing.T) {
	m := newMachine(t)
	m.write(m.userFile(), "plugins.integrity: off\n")
	o := m.options()
	o.WorkDir = strings.TrimSuffix(m.userFile(), "/thresh.yaml")
	if got := m.load(o).Settings().Plugins.Integrity; got != "off" {
		t.Errorf("got %s", got)
	}
}

// What an access token may set is a list that is read here too: a new row of the registry is not on it by itself.
func TestWhatAnAccessTokenMaySet(t *testing.T) {
	var free, granted []string
	for _, s := range slices.Concat(config.Specs(), config.ProviderSpecs(), config.NamedSpecs()) {
		switch {
		case s.By&config.ByToken != 0:
			free = append(free, s.Key)
		case s.MaySet(config.LayerToken):
			granted = append(granted, s.Key)
		}
	}
	want := []string{
		"compression.strategy", "compression.threshold", "compression.preserveThreshold",
		"compression.topPreserveThreshold", "compression.hardLimit", "compression.keep",
		"compression.keepShare", "compression.recall", "compression.density.readWritePruning", "compression.density.fileDedupe",
		"compression.density.recencyPruning", "compression.density.recencyRetention", "compression.density.cadence",
		"compression.density.optimizeThreshold", "compression.density.minSavings", "compression.density.partialWrites",
		"compression.density.toolPresets", "compression.density.tools", "model.name", "model.contextLimit",
		"model.completionBudget", "model.encoding", "workspace.root", "strategies.<name>.<key>",
	}
	if diff := cmp.Diff(want, free); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"compression.profile", "profile"}, granted); diff != "" {
		t.Error(diff)
	}
	if zero := (config.Spec{}); zero.MaySet(config.LayerToken) || !zero.PerHost() {
		t.Error("a row without a rule is open")
	}
}

// So is what a project's file may set.
func TestWhatAProjectMaySet(t *testing.T) {
	var got []string
	for _, s := range slices.Concat(config.Specs(), config.ProviderSpecs(), config.NamedSpecs()) {
		if s.MaySet(config.LayerProjectFile) {
			got = append(got, s.Key)
		}
	}
	want := []string{
		"compression.strategy", "compression.threshold", "compression.profile", "compression.preserveThreshold",
		"compression.topPreserveThreshold", "compression.hardLimit", "compression.keep",
		"compression.keepShare", "compression.recall", "compression.density.readWritePruning",
		"compression.density.fileDedupe", "compression.density.recencyPruning", "compression.density.recencyRetention",
		"compression.density.cadence", "compression.density.optimizeThreshold", "compression.density.minSavings",
		"compression.density.partialWrites", "compression.density.toolPresets", "compression.density.tools",
		"model.name", "model.contextLimit", "model.completionBudget", "model.encoding", "model.priceList",
		"model.priceFile", "workspace.root", "prompts.dir", "log.level", "profile", "provider.contextLimit",
		"provider.maxOutput", "strategies.<name>.<key>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	m := newMachine(t)
	notBy := []config.Layer{config.LayerProjectFile, config.LayerSession, config.LayerToken}
	if e := m.explain(m.load(m.options()), "plugins.dirs"); !slices.Equal(e.NotBy, notBy) {
		t.Errorf("explained as %+v", e)
	}
}

func TestWhatASessionMaySet(t *testing.T) {
	const (
		no     = ": cannot be set with an access token; want it in the configuration of the host"
		fixed  = ": cannot be changed for one session: it concerns the whole host; want it in "
		places = "~/.config/thresh/thresh.yaml, a file named with --config"
	)
	token := config.Setter{Layer: config.LayerToken, Token: "alice", Profiles: []string{"cheap"}}
	local := config.Setter{Layer: config.LayerSession}
	for name, c := range map[string]struct {
		by    config.Setter
		key   string
		value any
		want  string // after the key; "": it may
	}{
		"its history":          {token, "compression.threshold", "0.5", ""},
		"a key's way":          {token, "profiles.main.provider.baseURL", "http://evil.example/v1", no},
		"a key":                {token, "profiles.main.provider.keyEnv", "SECRET", no},
		"harmless in profiles": {token, "profiles.main.model.name", "gpt-4o", no},
		"a profile of its own": {token, "profiles.own.strategies.a.b", 1, no},
		"a price":              {token, "profiles.main.provider.prices.input", 0, no},
		"a grant":              {token, "plugins.grants.x.network", true, no},
		"a file":               {token, "prompts.dir", "/etc", no},
		"a limit":              {token, "compression.llm.maxTokens", 1000, no},
		"another case":         {token, "Prompts.Dir", "/etc", ": unknown setting; did you mean prompts.dir?"},
		"a group":              {token, "profiles", map[string]any{"main": nil}, ": is a group of settings; want profiles.<name>.<setting>"},
		"a profile as a group": {token, "profiles.main.provider", map[string]any{"keyFile": "/x"},
			": is a group of settings; want profiles.<name>.<setting>"},
		"a granted profile": {token, "compression.profile", "cheap", ""},
		"another profile": {token, "compression.profile", "main", `: "main" is not granted to the ` +
			`access token "alice"; want a token that is made with: thresh access set alice --profile main ` +
			`(after: thresh access revoke alice)`},
		"a profile that is none": {token, "profile", "nope", `: "nope" is not granted to the access token ` +
			`"alice"; want a token that is made with: thresh access set alice --profile nope ` +
			`(after: thresh access revoke alice)`},
		"out of the host's profile": {token, "profile", "", `: "" is not granted to the access token "alice"`},
		"what is no name":           {token, "profile", "a b", `: "a b" is not granted to the access token "alice"`},
		"back to the host's":        {token, "profile", nil, ""},
		"the user: a key":           {local, "profiles.main.provider.keyEnv", "SECRET", ""},
		"the user: any profile":     {local, "compression.profile", "main", ""},
		"the user: the host": {local, "plugins.isolation", "off", fixed + places +
			", THRESH_PLUGINS_ISOLATION or --set"},
		"the user: the host in a profile": {local, "profiles.main.plugins.isolation", "off", fixed +
			places + " or --set"},
		"the user: a grant": {local, "plugins.grants.x.network", true, fixed + places +
			" or --set"},
		"nobody": {config.Setter{}, "compression.threshold", 0.5, no},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write(m.userFile(), "profiles: {main: {provider: {kind: openai, model: m}}, cheap: {model.name: x}}\n")
			_, err := m.load(m.options()).WithBy(c.by, config.Override{Key: c.key, Value: c.value})
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if diff := cmp.Diff([]string{c.key + c.want}, m.messages(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a strategy takes as free text may name a file.
func TestATokenSetsNoFreeTextOfAStrategy(t *testing.T) {
	declared := []config.Spec{
		{Key: "entries", Type: config.Integer}, {Key: "mode", Type: config.String, Allowed: []string{"a", "b"}},
		{Key: "rules", Type: config.String},
	}
	m := newMachine(t)
	for layer, want := range map[config.Layer]string{
		config.LayerSession: "",
		config.LayerToken: "strategies.x.rules: is free text, which cannot be set with an access token; want it in the " +
			"configuration of the host",
	} {
		c, err := m.load(m.options()).WithBy(config.Setter{Layer: layer},
			config.Override{Key: "strategies.x.entries", Value: "3"}, config.Override{Key: "strategies.x.mode", Value: "a"},
			config.Override{Key: "strategies.x.rules", Value: "/etc/passwd"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Strategy("x", declared); err != nil && err.Error() != want || err == nil && want != "" {
			t.Errorf("%s: %v", layer, err)
		}
	}
}
