package config

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// Settings are the typed values of all layers together. Values were checked; paths are absolute.
type Settings struct {
	Compression Compression `koanf:"compression"`
	Model       Model       `koanf:"model"`
	Workspace   Workspace   `koanf:"workspace"`
	Transcript  Transcript  `koanf:"transcript"`
	Sessions    Sessions    `koanf:"sessions"`
	Prompts     Prompts     `koanf:"prompts"`
	Plugins     Plugins     `koanf:"plugins"`
	Log         Log         `koanf:"log"`
	Metrics     Metrics     `koanf:"metrics"`
	Proxy       Proxy       `koanf:"proxy"`
	Serve       Serve       `koanf:"serve"`
	// Profile is the profile in force; "" is none.
	Profile string `koanf:"profile"`
	// Strategies are the strategies' own settings, by strategy and key, as they were written: bool, int, float64, or
	// string. [Config.Strategy] checks them against what a strategy declares.
	Strategies map[string]map[string]any `koanf:"strategies"`
}

// Compression holds the settings under "compression".
type Compression struct {
	// Strategy is a strategy's name.
	Strategy string `koanf:"strategy"`
	// Threshold is a share of the context limit in (0, 1]. Nil means that it is not set: the default of
	// the strategy then applies (REQ-HD-001.10).
	Threshold *float64 `koanf:"threshold"`
	// Profile names the profile whose model is used for compression; it exists. "" is none.
	Profile string `koanf:"profile"`
	// PreserveThreshold and TopPreserveThreshold are shares of the entries, at the end and at the start, in [0, 1].
	PreserveThreshold    float64 `koanf:"preserveThreshold"`
	TopPreserveThreshold float64 `koanf:"topPreserveThreshold"`
	// UserMessageBudget is in tokens; 0 keeps only the last message word for word.
	UserMessageBudget int  `koanf:"userMessageBudget"`
	Verification      bool `koanf:"verification"`
	// HardLimit is "make-room", "make-room-keep-human" or "error".
	HardLimit string         `koanf:"hardLimit"`
	LLM       CompressionLLM `koanf:"llm"`
	Density   Density        `koanf:"density"`
}

// CompressionLLM holds the settings under "compression.llm": how much the model may be used.
type CompressionLLM struct {
	// MaxCalls and MaxTokens (sent and generated) bound one Compress.
	MaxCalls  int `koanf:"maxCalls"`
	MaxTokens int `koanf:"maxTokens"`
	// Cooldown is how long the model is not called after a non-retryable error; 0 switches it off.
	Cooldown time.Duration `koanf:"cooldown"`
}

// Density holds the settings under "compression.density" (REQ-HD-009). Those that a strategy is told have the type of
// the contract, and reach it without being copied field by field. RecencyRetention is rounded down, and at least 0.
type Density struct {
	contract.DensityConfig `koanf:",squash"`
	// Cadence is "every-turn", "gated" or "priced"; "" if the price list decides.
	Cadence string `koanf:"cadence"`
	// OptimizeThreshold is a share of the context limit, MinSavings is in tokens; both are for the cadence "gated".
	OptimizeThreshold float64 `koanf:"optimizeThreshold"`
	MinSavings        int     `koanf:"minSavings"`
	// ToolPresets are names of presets of the tool taxonomy. Empty means that none applies.
	ToolPresets []string `koanf:"toolPresets"`
	// Tools are further rules of the taxonomy, as a JSON array of objects; nil is none. Only its shape was checked.
	Tools json.RawMessage `koanf:"tools"`
}

// Model holds the settings under "model". Sizes are in tokens.
type Model struct {
	// Name is "" if the agent's model is not known.
	Name         string `koanf:"name"`
	ContextLimit int    `koanf:"contextLimit"`
	// CompletionBudget is set aside for the answer; it is below ContextLimit.
	CompletionBudget int `koanf:"completionBudget"`
	// Encoding is "" if the model's name decides.
	Encoding string `koanf:"encoding"`
	// PriceList is the name of a price list, "auto" if the model's name decides, or "none".
	PriceList string `koanf:"priceList"`
	// PriceFile is an absolute path; "" if only the shipped price lists are used.
	PriceFile string `koanf:"priceFile"`
}

// Workspace holds the settings under "workspace".
type Workspace struct {
	// Root is an absolute path.
	Root string `koanf:"root"`
}

// Transcript holds the settings under "transcript" (REQ-HD-012).
type Transcript struct {
	// Dir is an absolute path; "" if no transcript is written. It need not exist.
	Dir string `koanf:"dir"`
}

// Sessions holds the settings under "sessions".
type Sessions struct {
	// Store is memory, sqlite:PATH with an absolute path, or a postgres:// address, which may hold a password.
	Store string `koanf:"store"`
	// MaxMemory is in bytes; 0 is no limit.
	MaxMemory int `koanf:"maxMemory"`
	// Keep is how long a session is kept after its last use; 0 is for ever.
	Keep time.Duration `koanf:"keep"`
}

// Prompts holds the settings under "prompts" (REQ-HD-010).
type Prompts struct {
	// Dir is an absolute path; "" if only the shipped prompts are used. It need not exist.
	Dir string `koanf:"dir"`
}

// Plugins holds the settings under "plugins".
type Plugins struct {
	// Dirs are absolute paths, in the order in which they are searched. They need not exist.
	Dirs            []string      `koanf:"dirs"`
	StartTimeout    time.Duration `koanf:"startTimeout"`
	OptimizeTimeout time.Duration `koanf:"optimizeTimeout"`
	CompressTimeout time.Duration `koanf:"compressTimeout"`
	StopTimeout     time.Duration `koanf:"stopTimeout"`
	// MaxAnswerBytes bounds one answer of a plugin.
	MaxAnswerBytes int `koanf:"maxAnswerBytes"`
	// MirrorBytes is how much memory a plugin may take for its mirrors of histories; 0: it keeps none.
	MirrorBytes int `koanf:"mirrorBytes"`
	// MaxHostCalls bounds how many requests a plugin makes to the host during one Compress.
	MaxHostCalls int `koanf:"maxHostCalls"`
	// MaxCrashes is how many crashes within five minutes put a plugin into quarantine.
	MaxCrashes int `koanf:"maxCrashes"`
	// Integrity is tofu, locked or off.
	Integrity string `koanf:"integrity"`
	// LockFile is an absolute path, "" if there is none. It need not exist.
	LockFile string `koanf:"lockFile"`
	// Isolation is best-effort, strict or off.
	Isolation string `koanf:"isolation"`
	// MaxMemoryBytes bounds the memory of one plugin.
	MaxMemoryBytes int `koanf:"maxMemoryBytes"`
	// Grants are exceptions from isolation, by strategy.
	Grants map[string]Grant `koanf:"grants"`
}

// Grant holds the settings under "plugins.grants.<name>".
type Grant struct {
	// Network lets the plugin use the network.
	Network bool `koanf:"network"`
	// Processes lets it start other processes.
	Processes bool `koanf:"processes"`
	// Read are absolute paths of files and directories that it may read and run programs from.
	Read []string `koanf:"read"`
}

// Log holds the settings under "log".
type Log struct {
	// Level is trace, debug, info, warn or error.
	Level string `koanf:"level"`
	// Format is text or json.
	Format string `koanf:"format"`
}

// Serve holds the settings under "serve".
type Serve struct {
	// Listen is HOST:PORT or unix:PATH. It is checked when it is used.
	Listen string `koanf:"listen"`
	// TokenFile is an absolute path; "" if the local user has no token.
	TokenFile string   `koanf:"tokenFile"`
	TLS       ServeTLS `koanf:"tls"`
	// Drain is how long requests in progress have to end.
	Drain time.Duration `koanf:"drain"`
}

// ServeTLS holds the settings under "serve.tls". Both are absolute paths, or "" without TLS.
type ServeTLS struct {
	Cert string `koanf:"cert"`
	Key  string `koanf:"key"`
}

// Metrics holds the settings under "metrics".
type Metrics struct {
	// Listen is an address such as 127.0.0.1:9464; "" if metrics are not served. It is checked when it is used.
	Listen string `koanf:"listen"`
}

// Proxy holds the settings under "proxy".
type Proxy struct {
	// Listen is HOST:PORT; "" if 'thresh serve' is no proxy. It is checked when it is used.
	Listen    string    `koanf:"listen"`
	Upstreams Upstreams `koanf:"upstreams"`
	// OnError is forward or fail.
	OnError string `koanf:"onError"`
	// Recall: removed results can be asked for.
	Recall bool `koanf:"recall"`
}

// Upstreams are the base URLs of the providers that the proxy stands before. OpenAI's has the version, the others' do
// not.
type Upstreams struct {
	Anthropic string `koanf:"anthropic"`
	OpenAI    string `koanf:"openai"`
	Gemini    string `koanf:"gemini"`
}

// CompressSettings returns the settings that a strategy is told for a Compress. Todos and TranscriptPath belong to a
// session and are left empty.
func (s Settings) CompressSettings() contract.CompressSettings {
	return contract.CompressSettings{
		ContextLimit: s.Model.ContextLimit, CompletionBudget: s.Model.CompletionBudget,
		PreserveThreshold: s.Compression.PreserveThreshold, TopPreserveThreshold: s.Compression.TopPreserveThreshold,
		UserMessageBudget: s.Compression.UserMessageBudget, Verification: s.Compression.Verification,
	}
}

// clone returns a copy that shares nothing that a caller could change.
func (s Settings) clone() Settings {
	if t := s.Compression.Threshold; t != nil {
		s.Compression.Threshold = new(*t)
	}
	s.Compression.Density.ToolPresets = slices.Clone(s.Compression.Density.ToolPresets)
	s.Compression.Density.Tools = slices.Clone(s.Compression.Density.Tools)
	s.Plugins.Dirs = slices.Clone(s.Plugins.Dirs)
	s.Plugins.Grants = maps.Clone(s.Plugins.Grants)
	for name, grant := range s.Plugins.Grants {
		grant.Read = slices.Clone(grant.Read)
		s.Plugins.Grants[name] = grant
	}
	s.Strategies = maps.Clone(s.Strategies)
	for name, own := range s.Strategies {
		s.Strategies[name] = maps.Clone(own)
	}
	return s
}
