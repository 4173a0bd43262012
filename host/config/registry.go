package config

import (
	"slices"
	"time"

	"github.com/thresh-dev/thresh/host/internal/keep"
	"github.com/thresh-dev/thresh/sdk"
	"github.com/thresh-dev/thresh/sdk/tools"
)

const (
	categoryBehavior = "cli-behavior"
	categoryModel    = "model"
	categoryHost     = "host"
	categoryProvider = "provider"
)

// Specs returns the registry in the order in which people should read it. [ProviderSpecs] has what only a profile
// holds, [NamedSpecs] keys with a user's name in them.
func Specs() []Spec {
	share := func(s Spec) Spec {
		s.Type, s.Min, s.Max = Number, new(0.0), new(1.0)
		return s
	}
	// docs/economics.md has the figures behind measured defaults; the others are chosen to make mistakes cheap. To
	// change one, change its row, or package contract for what strategies are told: help, schema and pages follow.
	compress, density := sdk.DefaultCompressSettings(), sdk.DefaultDensityConfig()
	// anyone is for what a strategy does to the session's own history, and for what the agent knows best.
	const anyone = ByProject | BySession | ByToken
	specs := []Spec{
		// Of those that need no model, the one that costs least and loses least on recorded sessions.
		behavior(Spec{Key: "compression.strategy", By: anyone, Type: Name, Default: "distill",
			Meaning: "Name of the strategy that prunes and compresses the history."}),
		behavior(share(Spec{Key: "compression.threshold", By: anyone, OpenMin: true,
			DefaultText: "the strategy's own", Unit: "share of the context limit",
			Meaning: "Compress when the history fills this share of the context limit."})),
		behavior(Spec{Key: "compression.profile", By: ByProject | BySession | ByGrant, Type: String, Default: "",
			Meaning: "Profile whose model is used by strategies that summarise; empty uses the profile in force."}),
		// On recorded sessions 0.2 saves more and loses more, 0.6 the reverse.
		behavior(share(Spec{Key: "compression.preserveThreshold", By: anyone, Default: compress.PreserveThreshold,
			Unit:    "share of the entries",
			Meaning: "Share of the newest entries that compression does not touch."})),
		behavior(share(Spec{Key: "compression.topPreserveThreshold", Tuning: true, By: anyone, Default: compress.TopPreserveThreshold,
			Unit:    "share of the entries",
			Meaning: "Share of the oldest entries that middle-out does not touch."})),
		behavior(Spec{Key: "compression.hardLimit", By: anyone, Type: String, Default: "make-room",
			Allowed: []string{"make-room", "make-room-keep-human", "error"},
			Meaning: "What to do if the request exceeds the context limit: cut the middle out of huge tool results; if " +
				"compression is not enough then, remove large ones, then the oldest exchanges, then the middle of new " +
				"results, then the oldest words of people (make-room); the same without people's words " +
				"(make-room-keep-human); or fail (error)."}),
		behavior(Spec{Key: "compression.keep", By: anyone, Type: Strings, DefaultText: "nothing",
			judge: keep.Check, most: keep.MaxPatterns, want: "a list of paths, tool:NAME or text:WORDS",
			Meaning: "What no strategy shortens or removes: files (CLAUDE.md, docs/**/*.sql), results of tools " +
				"(tool:TodoWrite), entries with words (text:never push)."}),
		// Room for rules and a schema. With more, a strategy cannot reach its target.
		behavior(share(Spec{Key: "compression.keepShare", Tuning: true, By: anyone, Default: 0.25,
			Unit:    "share of the context limit",
			Meaning: "Most that compression.keep, people's keep tags and recalled results keep."})),
		behavior(Spec{Key: "compression.recall", By: anyone, Type: Boolean, Default: false,
			Meaning: "The model always has thresh_recall: shortened results have an id for it."}),
		behavior(Spec{Key: "compression.llm.maxTokens", Tuning: true, By: BySession, Type: Integer, Default: 2_000_000, Min: new(0.0),
			OpenMin: true, Unit: "tokens",
			Meaning: "Maximum number of tokens, sent and generated together, in one compression."}),
		behavior(Spec{Key: "compression.density.readWritePruning", By: anyone, Type: Boolean,
			Default: density.ReadWritePruning,
			Meaning: "Remove reads of a file that a later successful write of the same file made stale. Writes stay."}),
		behavior(Spec{Key: "compression.density.fileDedupe", By: anyone, Type: Boolean, Default: density.FileDedupe,
			Meaning: "If a file was included with @ several times, keep only the last one."}),
		behavior(Spec{Key: "compression.density.recencyPruning", By: anyone, Type: Boolean, Default: density.RecencyPruning,
			Meaning: "Replace old results of a tool by a placeholder."}),
		behavior(Spec{Key: "compression.density.recencyRetention", Tuning: true, By: anyone, Type: Number,
			Default: float64(density.RecencyRetention), Unit: "results per tool",
			Meaning: "How many results of each tool recency pruning keeps; values below 1 count as 1."}),
		behavior(Spec{Key: "compression.density.cadence", By: anyone, Type: String, Default: "",
			DefaultText: "priced if there is a price list for the model, else every-turn",
			Allowed:     []string{"", "every-turn", "gated", "priced"},
			Meaning: "When the history is pruned: at every turn, once enough can be removed (gated), or once " +
				"pruning saves more than rewriting the prompt cache costs (priced)."}),
		behavior(share(Spec{Key: "compression.density.optimizeThreshold", Tuning: true, By: anyone, Default: 0.25,
			Unit:    "share of the context limit",
			Meaning: "With cadence gated: prune only above this share of the context limit."})),
		behavior(Spec{Key: "compression.density.minSavings", Tuning: true, By: anyone, Type: Integer, Default: 10_000, Min: new(0.0),
			Unit:    "tokens",
			Meaning: "With cadence gated or priced: prune what is cached only if at least this much is removed."}),
		// prune saves 18 % on recorded sessions at a recall of 98.8 %, keep 4.5 % at 99.9 %.
		behavior(Spec{Key: "compression.density.partialWrites", Tuning: true, By: anyone, Type: String,
			Default: string(density.PartialWrites),
			Allowed: []string{"prune", "keep"},
			Meaning: "Whether an edit of part of a file makes earlier reads of it stale (prune), or only a write of " +
				"the whole file (keep)."}),
		behavior(Spec{Key: "compression.density.toolPresets", Tuning: true, By: anyone, Type: Strings, Default: tools.PresetNames(),
			DefaultText: "all presets", Allowed: tools.PresetNames(),
			Meaning: "Agents whose tools are recognised by name. Tools of other agents are never pruned by path."}),
		behavior(Spec{Key: "compression.density.tools", Tuning: true, By: anyone, Type: Objects, DefaultText: "none",
			Meaning: "Additional rules for what a tool call reads, writes and runs."}),

		model(Spec{Key: "model.name", By: anyone, Type: String, Default: "",
			Meaning: "Model that the agent uses. It decides how tokens are counted and which price list applies."}),
		model(Spec{Key: "model.contextLimit", By: anyone, Type: Integer, Default: compress.ContextLimit, Min: new(0.0),
			OpenMin: true, Unit: "tokens",
			Meaning: "Size of the model's context window."}),
		model(Spec{Key: "model.completionBudget", By: anyone, Type: Integer, Default: 0, Min: new(0.0), Unit: "tokens",
			Meaning: "Part of the context window that is reserved for the answer; less than model.contextLimit."}),
		model(Spec{Key: "model.encoding", Tuning: true, By: anyone, Type: String, Default: "", DefaultText: "by model.name",
			Allowed: []string{"", "cl100k_base", "o200k_base", "p50k_base", "r50k_base"},
			Meaning: "Encoding that tokens are counted with; empty lets model.name decide."}),
		model(Spec{Key: "model.priceList", By: ByProject | BySession, Type: String, Default: "auto",
			Meaning: "Price list of the model's provider, see 'thresh config prices'; auto chooses by model.name, " +
				"auto-1h the one for a prompt cache that is kept for an hour, none uses no price list."}),
		host(Spec{Key: "model.priceFile", By: ByProject, Type: Path, Default: "", DefaultText: "the shipped price lists",
			optional: true, contained: true,
			Meaning: "File with your own price lists, which take precedence over the shipped ones: YAML in the form of " +
				"'thresh config prices -o yaml', or a catalogue of genai-prices (data.json), LiteLLM " +
				"(model_prices_and_context_window.json) or models.dev (api.json) as it is published; empty for none."}),

		behavior(Spec{Key: "workspace.root", By: anyone, Type: Path, DefaultText: "the working directory",
			fallback: func(p places) any { return p.workDir },
			Meaning:  "Directory that relative paths in tool calls refer to."}),

		host(Spec{Key: "transcript.dir", By: BySession, Type: Path, Default: "", DefaultText: "no transcripts",
			optional: true,
			Meaning: "Directory for transcripts: each session's whole conversation, as it was before pruning and " +
				"compression; empty writes none."}),
		host(Spec{Key: "sessions.store", Type: String, Default: "memory", secret: true, valid: validStore,
			want: "memory, sqlite, sqlite:PATH or postgres://USER@HOST/DATABASE",
			Meaning: "Where sessions are kept until they are deleted: only while the host runs (memory), in a file with SQLite " +
				"(sqlite: $XDG_STATE_HOME/thresh/sessions.db), or in a PostgreSQL database."}),
		host(Spec{Key: "sessions.maxMemory", Tuning: true, Type: Integer, Default: 512 << 20, Min: new(0.0), Unit: "bytes",
			Meaning: "Memory for conversations, about; those used least recently are released and read again when " +
				"they are used; 0 for no limit. A proxy begins conversations again if its store is in memory."}),
		host(Spec{Key: "sessions.keep", Type: Duration, Default: time.Duration(0), Min: new(0.0),
			Meaning: "How long stored sessions are kept after their last use, such as 720h; 0 keeps them until they " +
				"are deleted."}),
		behavior(Spec{Key: "prompts.dir", By: ByProject | BySession, Type: Path, Default: "",
			DefaultText: "the shipped prompts", optional: true,
			Meaning: "Directory with your own prompts, see 'thresh prompts eject'; empty for none."}),

		host(Spec{Key: "plugins.dirs", Type: Paths,
			DefaultText: "$XDG_DATA_HOME/thresh/plugins (~/.local/share/thresh/plugins)",
			fallback:    func(p places) any { return p.pluginDirs() },
			Meaning: "Directories that are searched for strategy plugins, in this order. A file in them is used instead " +
				"of the strategy of the same name that is built in."}),
		host(Spec{Key: "plugins.startTimeout", Tuning: true, Type: Duration, Default: 10 * time.Second, Min: new(0.0),
			OpenMin: true,
			Meaning: "Timeout for the start of a plugin, until its first answer."}),
		host(Spec{Key: "plugins.optimizeTimeout", Tuning: true, By: BySession, Type: Duration, Default: 30 * time.Second, Min: new(0.0),
			OpenMin: true,
			Meaning: "Timeout of one Optimize (the prune step)."}),
		host(Spec{Key: "plugins.compressTimeout", Tuning: true, By: BySession, Type: Duration, Default: 10 * time.Minute, Min: new(0.0),
			OpenMin: true,
			Meaning: "Timeout of one Compress, model calls included."}),
		host(Spec{Key: "plugins.mirrorBytes", Tuning: true, Type: Integer, Default: 256 << 20, Min: new(0.0),
			Unit: "bytes",
			Meaning: "Memory that a plugin may use to keep histories between calls, so that only what is new is " +
				"sent; 0 for none."}),
		host(Spec{Key: "plugins.maxCrashes", Tuning: true, Type: Integer, Default: 5, Min: new(0.0), OpenMin: true,
			Unit:    "crashes in 5 minutes",
			Meaning: "Number of crashes after which a plugin is quarantined, until its file changes or it is reset."}),
		host(Spec{Key: "plugins.integrity", Type: String, Default: "tofu",
			Allowed: []string{"tofu", "locked", "off"},
			Meaning: "Which plugin files may run: those unchanged since they were first used (tofu), only those in " +
				"the lock file (locked), or any (off)."}),
		host(Spec{Key: "plugins.lockFile", Tuning: true, Type: Path, optional: true,
			DefaultText: "$XDG_STATE_HOME/thresh/plugins.lock (~/.local/state/thresh/plugins.lock)",
			fallback:    func(p places) any { return inside(p.stateHome, "plugins.lock") },
			Meaning: "File that records the checksum of each plugin; empty remembers them only while the host " +
				"runs."}),
		host(Spec{Key: "plugins.isolation", Type: String, Default: "best-effort",
			Allowed: []string{"best-effort", "strict", "off"},
			Meaning: "Isolation of plugins: as far as this machine supports it (best-effort), fully or the plugin " +
				"does not start (strict), or none (off)."}),
		host(Spec{Key: "plugins.maxMemoryBytes", Tuning: true, Type: Integer, Default: 2 << 30,
			Min: new(float64(64 << 20)), Unit: "bytes",
			Meaning: "Maximum private memory of one plugin; with shared memory, a quarter more."}),
		upstream(Spec{Key: "plugins.registry", Tuning: true, Default: "https://github.com",
			Meaning: "Where 'thresh plugins install' finds the releases of github.com/OWNER/REPO: a mirror has the same " +
				"paths below its address, and with a range of versions those of GitHub's API below api/v3."}),
		host(Spec{Key: "plugins.index", Tuning: true, Type: String, valid: validIndex,
			Default: "https://raw.githubusercontent.com/thresh-dev/thresh/main/packaging/plugins.json",
			want:    "an https:// address, or an absolute path",
			Meaning: "What 'thresh plugins search' searches: the address or the path of a file."}),
		host(Spec{Key: "plugins.registryHeader", Tuning: true, Type: EnvName, Default: "", secret: true,
			DefaultText: "no header", valid: func(v string) bool { return v == "" || envVariable().MatchString(v) },
			Meaning: "Environment variable with a header that is sent to plugins.registry alone, such as " +
				"Authorization: Bearer …; empty for none."}),
		host(Spec{Key: "log.level", By: ByProject, Type: String, Default: "warn",
			Allowed: []string{"trace", "debug", "info", "warn", "error"},
			Meaning: "Minimum severity of messages that are logged."}),
		host(Spec{Key: "log.format", Type: String, Default: "text", Allowed: []string{"text", "json"},
			Meaning: "Form of log lines: for people (text), or one JSON object each (json)."}),
		// Loopback by default: serving other machines takes a decision, TLS and tokens.
		host(Spec{Key: "serve.listen", Type: String, Default: "127.0.0.1:7440",
			Meaning: "Where 'thresh serve' listens: HOST:PORT, where port 0 picks a free one, or unix:PATH."}),
		host(Spec{Key: "serve.tokenFile", Tuning: true, Type: Path, optional: true,
			DefaultText: "$XDG_STATE_HOME/thresh/token (~/.local/state/thresh/token)",
			fallback:    func(p places) any { return inside(p.stateHome, "token") },
			Meaning: "File with the local user's access token, which 'thresh serve' makes when it listens on a " +
				"loopback address; empty for none."}),
		host(Spec{Key: "serve.tls.cert", Type: Path, Default: "", DefaultText: "no TLS", optional: true,
			Meaning: "PEM file with the certificate of 'thresh serve', and those above it."}),
		host(Spec{Key: "serve.tls.key", Type: Path, Default: "", DefaultText: "no TLS", optional: true,
			Meaning: "PEM file with the key of that certificate."}),
		host(Spec{Key: "serve.drain", Tuning: true, Type: Duration, Default: 30 * time.Second, Min: new(0.0),
			Meaning: "How long requests in progress may take to end when 'thresh serve' is told to."}),
		host(Spec{Key: "metrics.listen", Type: String, Default: "",
			Meaning: "Address where 'thresh run' serves metrics to Prometheus, such as 127.0.0.1:9464; port 0 picks " +
				"a free one; empty for none."}),

		// OpenAI's clients expect the version in the base URL, the others add it themselves.
		upstream(Spec{Key: "proxy.upstreams.anthropic", Default: "https://api.anthropic.com",
			Meaning: "Where the proxy sends requests of the Messages API; without /v1."}),
		upstream(Spec{Key: "proxy.upstreams.openai", Default: "https://api.openai.com/v1",
			Meaning: "Where the proxy sends requests of the Chat Completions and Responses APIs; with /v1."}),
		upstream(Spec{Key: "proxy.upstreams.gemini", Default: "https://generativelanguage.googleapis.com",
			Meaning: "Where the proxy sends requests of the Gemini API; without /v1beta."}),
		host(Spec{Key: "proxy.listen", Type: String, Default: "", DefaultText: "no proxy",
			Meaning: "Where 'thresh serve' also listens as a proxy for the model APIs of agents: HOST:PORT; port 0 " +
				"picks a free one; empty for no proxy."}),
		host(Spec{Key: "proxy.recall", Type: Boolean, Default: true,
			Meaning: "Gives the agent's model a tool, thresh_recall, that finds what was removed: by words, or by the id " +
				"in the place of a removed result. An MCP server at /mcp has it."}),

		{Key: keyProfile, By: ByProject | BySession | ByGrant, Type: String, Default: "",
			Category: categoryBehavior,
			Meaning:  "Profile whose settings are in force; empty for none."},
	}
	return specs
}

// Keys returns the keys of the registry, in its order, without those under profiles.<name> and strategies.<name>.
func Keys() []string {
	return slices.Clone(registry().keys)
}

func behavior(s Spec) Spec {
	s.Category, s.PersistToProfile = categoryBehavior, true
	return s
}

func model(s Spec) Spec {
	s.Category, s.PersistToProfile = categoryModel, true
	return s
}

func host(s Spec) Spec {
	s.Category, s.PersistToProfile = categoryHost, true
	return s
}

// upstream settings say where agents' requests are sent, with their keys. A project file that could change one would
// collect the keys of everyone who opens it.
func upstream(s Spec) Spec {
	s.Type, s.valid = URL, validUpstream
	s.want = "an https:// address, or an http:// address of this machine, without credentials and query"
	return host(s)
}
