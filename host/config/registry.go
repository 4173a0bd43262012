package config

import (
	"slices"
	"time"

	"github.com/thresh-dev/thresh/sdk/tools"
)

// The categories of the registry. The first one's name is set by REQ-HD-009.
const (
	categoryBehavior = "cli-behavior"
	categoryModel    = "model"
	categoryHost     = "host"
	categoryProvider = "provider"
)

// Specs returns the registry in the order in which people should read it. What only a profile holds is in [ProviderSpecs].
func Specs() []Spec {
	share := func(s Spec) Spec {
		s.Type, s.Min, s.Max = Number, new(0.0), new(1.0)
		return s
	}
	specs := []Spec{
		behavior(Spec{Key: "compression.strategy", Type: Name, Default: "high-density",
			Meaning: "Name of the strategy that keeps the history small."}),
		behavior(share(Spec{Key: "compression.threshold", OpenMin: true,
			DefaultText: "the strategy's own", Unit: "share of the context limit",
			Meaning: "Compress when the history fills this share of the context limit."})),
		behavior(Spec{Key: "compression.profile", Type: String, Default: "",
			Meaning: "Profile whose model does compression by an LLM; empty for none."}),
		behavior(share(Spec{Key: "compression.preserveThreshold", Default: 0.4, Unit: "share of the entries",
			Meaning: "Share of the newest entries that compression leaves alone."})),
		behavior(share(Spec{Key: "compression.topPreserveThreshold", Default: 0.2, Unit: "share of the entries",
			Meaning: "Share of the oldest entries that middle-out leaves alone."})),
		behavior(Spec{Key: "compression.userMessageBudget", Type: Integer, Default: 20_000, Min: new(0.0), Unit: "tokens",
			Meaning: "How much of what people said in a summarised part is kept word for word, newest first."}),
		behavior(Spec{Key: "compression.verification", Type: Boolean, Default: false,
			Meaning: "Have a second call of the model look for omissions in a summary."}),
		behavior(Spec{Key: "compression.hardLimit", Type: String, Default: "ladder",
			Allowed: []string{"ladder", "error"},
			Meaning: "What happens when the context limit is exceeded although everything was compressed: the largest tool results, then the oldest exchanges make room (ladder), or the request fails (error)."}),
		trusted(behavior(Spec{Key: "compression.llm.maxCalls", Type: Integer, Default: 32, Min: new(0.0), OpenMin: true, Unit: "calls",
			Meaning: "How often one compression may call the model."})),
		trusted(behavior(Spec{Key: "compression.llm.maxTokens", Type: Integer, Default: 2_000_000, Min: new(0.0), OpenMin: true, Unit: "tokens",
			Meaning: "How much one compression may send to the model and have generated, together."})),
		behavior(Spec{Key: "compression.llm.cooldown", Type: Duration, Default: 60 * time.Second, Min: new(0.0),
			Meaning: "How long the model is left alone after an error that a retry cannot help."}),
		behavior(Spec{Key: "compression.density.readWritePruning", Type: Boolean, Default: true,
			Meaning: "Remove reads and writes of a file that a later write made stale."}),
		behavior(Spec{Key: "compression.density.fileDedupe", Type: Boolean, Default: true,
			Meaning: "Keep only the last @-inclusion of a file."}),
		behavior(Spec{Key: "compression.density.recencyPruning", Type: Boolean, Default: false,
			Meaning: "Replace old results of a tool by a pointer."}),
		behavior(Spec{Key: "compression.density.recencyRetention", Type: Number, Default: 3.0, Unit: "results per tool",
			Meaning: "How many results of each tool recency pruning keeps; below 1 counts as 1."}),
		behavior(Spec{Key: "compression.density.cadence", Type: String, Default: "", DefaultText: "priced if there is a price list for the model, else every-turn",
			Allowed: []string{"", "every-turn", "gated", "priced"},
			Meaning: "Whether the history is pruned at each turn, once enough has come together (gated), or once that is cheaper than the prompt cache that it breaks (priced)."}),
		behavior(share(Spec{Key: "compression.density.optimizeThreshold", Default: 0.25, Unit: "share of the context limit",
			Meaning: "With the cadence gated, prune from this share of the context limit on."})),
		behavior(Spec{Key: "compression.density.minSavings", Type: Integer, Default: 10_000, Min: new(0.0), Unit: "tokens",
			Meaning: "With the cadence gated, prune when at least this much goes."}),
		behavior(Spec{Key: "compression.density.partialWrites", Type: String, Default: "prune",
			Allowed: []string{"prune", "keep"},
			Meaning: "Whether an edit of part of a file makes earlier reads stale (prune) or only a whole write does (keep)."}),
		behavior(Spec{Key: "compression.density.toolPresets", Type: Strings, Default: tools.PresetNames(),
			DefaultText: "all presets", Allowed: tools.PresetNames(),
			Meaning: "Agents whose tool names are known; tools of other agents are never pruned by path."}),
		behavior(Spec{Key: "compression.density.tools", Type: Objects, DefaultText: "none",
			Meaning: "Further rules that say what a tool call reads, writes and runs."}),

		model(Spec{Key: "model.name", Type: String, Default: "",
			Meaning: "Model that the agent uses; it decides how tokens are counted."}),
		model(Spec{Key: "model.contextLimit", Type: Integer, Default: 200_000, Min: new(0.0), OpenMin: true, Unit: "tokens",
			Meaning: "Size of the model's context window."}),
		model(Spec{Key: "model.completionBudget", Type: Integer, Default: 0, Min: new(0.0), Unit: "tokens",
			Meaning: "Part of the context window set aside for the answer; less than model.contextLimit."}),
		model(Spec{Key: "model.encoding", Type: String, Default: "", DefaultText: "by model.name",
			Allowed: []string{"", "cl100k_base", "o200k_base", "p50k_base", "r50k_base"},
			Meaning: "Encoding by which tokens are counted; empty lets model.name decide."}),
		model(Spec{Key: "model.priceList", Type: String, Default: "auto",
			Meaning: "Price list of the model's provider, see 'thresh prices'; auto goes by model.name, none is for no price list."}),
		perHost(Spec{Key: "model.priceFile", Type: Path, Default: "", DefaultText: "the price lists that ship", optional: true,
			Meaning: "YAML file with price lists of one's own, which win over those that ship; empty for none."}),

		behavior(Spec{Key: "workspace.root", Type: Path, DefaultText: "the working directory",
			fallback: func(p places) any { return p.workDir },
			Meaning:  "Directory against which relative paths in tool calls are resolved."}),

		trusted(host(Spec{Key: "transcript.dir", Type: Path, Default: "", DefaultText: "none is written", optional: true,
			Meaning: "Directory in which the whole conversation is written down before anything is compressed; empty for none."})),
		behavior(Spec{Key: "prompts.dir", Type: Path, Default: "", DefaultText: "the prompts that ship", optional: true,
			Meaning: "Directory with prompts of one's own; empty for none."}),

		trusted(perHost(Spec{Key: "plugins.dirs", Type: Paths,
			DefaultText: "plugins/ beside the executable, then $XDG_DATA_HOME/thresh/plugins (~/.local/share/thresh/plugins)",
			fallback:    func(p places) any { return p.pluginDirs() },
			Meaning:     "Directories that are searched for strategies, in this order."})),
		trusted(perHost(Spec{Key: "plugins.startTimeout", Type: Duration, Default: 10 * time.Second, Min: new(0.0), OpenMin: true,
			Meaning: "How long a plugin may take from its start to its first answer."})),
		trusted(host(Spec{Key: "plugins.optimizeTimeout", Type: Duration, Default: 30 * time.Second, Min: new(0.0), OpenMin: true,
			Meaning: "How long one Optimize may take."})),
		trusted(host(Spec{Key: "plugins.compressTimeout", Type: Duration, Default: 10 * time.Minute, Min: new(0.0), OpenMin: true,
			Meaning: "How long one Compress may take, calls of an LLM included."})),
		trusted(perHost(Spec{Key: "plugins.stopTimeout", Type: Duration, Default: 2 * time.Second, Min: new(0.0), OpenMin: true,
			Meaning: "How long a plugin may take to end before it is killed."})),
		trusted(perHost(Spec{Key: "plugins.maxAnswerBytes", Type: Integer, Default: 64 << 20, Min: new(0.0), OpenMin: true, Unit: "bytes",
			Meaning: "Largest answer that is accepted from a plugin."})),
		trusted(perHost(Spec{Key: "plugins.maxJsonDepth", Type: Integer, Default: 1000, Min: new(0.0), OpenMin: true, Unit: "levels",
			Meaning: "How deep JSON in a plugin's answer may be nested."})),
		trusted(perHost(Spec{Key: "plugins.maxHostCalls", Type: Integer, Default: 10_000, Min: new(0.0), OpenMin: true, Unit: "calls",
			Meaning: "How often a plugin may ask the host for something during one Compress."})),
		trusted(perHost(Spec{Key: "plugins.maxCrashes", Type: Integer, Default: 5, Min: new(0.0), OpenMin: true, Unit: "crashes in 5 minutes",
			Meaning: "How many crashes put a plugin out of use until its file changes or it is reset."})),
		trusted(perHost(Spec{Key: "plugins.integrity", Type: String, Default: "tofu",
			Allowed: []string{"tofu", "locked", "off"},
			Meaning: "Which files may be run: as they were when first seen (tofu), only those in the lock file (locked), or any (off)."})),
		trusted(perHost(Spec{Key: "plugins.lockFile", Type: Path, optional: true,
			DefaultText: "$XDG_STATE_HOME/thresh/plugins.lock (~/.local/state/thresh/plugins.lock)",
			fallback:    func(p places) any { return p.lockFile() },
			Meaning:     "File that says what each plugin was; empty remembers it only while the host runs."})),
		trusted(perHost(Spec{Key: "plugins.isolation", Type: String, Default: "best-effort",
			Allowed: []string{"best-effort", "strict", "off"},
			Meaning: "Whether a plugin is started where this machine cannot isolate it fully (best-effort), is not (strict), or never is isolated (off)."})),
		trusted(perHost(Spec{Key: "plugins.maxMemoryBytes", Type: Integer, Default: 2 << 30, Min: new(float64(64 << 20)), Unit: "bytes",
			Meaning: "Private memory that one plugin may use; memory that is made to be shared is not counted."})),
		perHost(Spec{Key: "log.level", Type: String, Default: "warn",
			Allowed: []string{"trace", "debug", "info", "warn", "error"},
			Meaning: "Least severe messages that are logged."}),
		trusted(perHost(Spec{Key: "metrics.listen", Type: String, Default: "",
			Meaning: "Address at which 'thresh run' serves metrics to Prometheus, such as 127.0.0.1:9464; empty for none, port 0 for any that is free."})),

		{Key: keyProfile, Type: String, Default: "", Category: categoryBehavior,
			Meaning: "Profile whose settings are used; empty for none."},
	}
	return specs
}

// Keys returns the keys of the registry, in its order. Keys under profiles.<name> and strategies.<name> are not among them.
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

func perHost(s Spec) Spec {
	s.PerHost = true
	return host(s)
}

func trusted(s Spec) Spec {
	s.Trusted = true
	return s
}
