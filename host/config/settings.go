package config

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/thresh-dev/thresh/sdk"
)

// Settings are the checked values of all layers together. Paths are absolute.
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
	// Strategies are the strategies' own settings, by strategy and key, as written: bool, int, float64, or string.
	// [Config.Strategy] checks them against what a strategy declares.
	Strategies map[string]map[string]any `koanf:"strategies"`
}

type Compression struct {
	Strategy string `koanf:"strategy"`
	// Threshold is a share of the context limit in (0, 1]; nil leaves it to the strategy.
	Threshold *float64 `koanf:"threshold"`
	// Profile is an existing profile, whose model is used for compression. "" is none.
	Profile string `koanf:"profile"`
	// PreserveThreshold and TopPreserveThreshold are shares of the entries, at the end and at the start, in [0, 1].
	PreserveThreshold    float64 `koanf:"preserveThreshold"`
	TopPreserveThreshold float64 `koanf:"topPreserveThreshold"`
	// HardLimit is "make-room", "make-room-keep-human" or "error".
	HardLimit string `koanf:"hardLimit"`
	// Keep are patterns of what stays whole, at most KeepShare of the window, in [0, 1].
	Keep      []string `koanf:"keep"`
	KeepShare float64  `koanf:"keepShare"`
	// Recall: the model always has the tool that gives back what was removed.
	Recall  bool           `koanf:"recall"`
	LLM     CompressionLLM `koanf:"llm"`
	Density Density        `koanf:"density"`
}

// CompressionLLM holds the settings under "compression.llm": a limit for the use of the model.
type CompressionLLM struct {
	// MaxTokens bounds one Compress: tokens sent and generated.
	MaxTokens int `koanf:"maxTokens"`
}

// Density holds the settings under "compression.density". What a strategy is told has the contract's type,
// and is not copied field by field. RecencyRetention is rounded down, and at least 0.
type Density struct {
	sdk.DensityConfig `koanf:",squash"`
	// Cadence is "every-turn", "gated" or "priced"; "" if the price list decides.
	Cadence string `koanf:"cadence"`
	// OptimizeThreshold is a share of the context limit, MinSavings is in tokens; OptimizeThreshold applies to cadence
	// "gated", MinSavings also to "priced".
	OptimizeThreshold float64 `koanf:"optimizeThreshold"`
	MinSavings        int     `koanf:"minSavings"`
	// ToolPresets are names of presets of the tool taxonomy; empty for none.
	ToolPresets []string `koanf:"toolPresets"`
	// Tools are further taxonomy rules, as a JSON array of objects; nil for none. Only its shape was checked.
	Tools json.RawMessage `koanf:"tools"`
}

// Model holds the settings under "model". Sizes are in tokens.
type Model struct {
	// Name is "" if the agent's model is unknown.
	Name         string `koanf:"name"`
	ContextLimit int    `koanf:"contextLimit"`
	// CompletionBudget is reserved for the answer; it is below ContextLimit.
	CompletionBudget int `koanf:"completionBudget"`
	// Encoding is "" if the model's name decides.
	Encoding string `koanf:"encoding"`
	// PriceList is the name of a price list, "auto" (by the model's name), or "none".
	PriceList string `koanf:"priceList"`
	// PriceFile is an absolute path; "" uses only the shipped price lists.
	PriceFile string `koanf:"priceFile"`
}

type Workspace struct {
	Root string `koanf:"root"`
}

type Transcript struct {
	// Dir is an absolute path, which need not exist; "" writes no transcript.
	Dir string `koanf:"dir"`
}

type Sessions struct {
	// Store is memory, sqlite:PATH with an absolute path, or a postgres:// address, which may hold a password.
	Store string `koanf:"store"`
	// MaxMemory is in bytes; 0 is no limit.
	MaxMemory int `koanf:"maxMemory"`
	// Keep is how long a session is kept after its last use; 0 is for ever.
	Keep time.Duration `koanf:"keep"`
}

type Prompts struct {
	// Dir is an absolute path, which need not exist; "" uses only the shipped prompts.
	Dir string `koanf:"dir"`
}

type Plugins struct {
	// Dirs are absolute paths in search order. They need not exist.
	Dirs            []string      `koanf:"dirs"`
	StartTimeout    time.Duration `koanf:"startTimeout"`
	OptimizeTimeout time.Duration `koanf:"optimizeTimeout"`
	CompressTimeout time.Duration `koanf:"compressTimeout"`
	// MirrorBytes is the memory in bytes for a plugin's mirrors of histories; 0: it keeps none.
	MirrorBytes int `koanf:"mirrorBytes"`
	// MaxCrashes is how many crashes within five minutes put a plugin in quarantine.
	MaxCrashes int `koanf:"maxCrashes"`
	// Integrity is tofu, locked or off.
	Integrity string `koanf:"integrity"`
	// LockFile is an absolute path, which need not exist; "" for none.
	LockFile string `koanf:"lockFile"`
	// Isolation is best-effort, strict or off.
	Isolation string `koanf:"isolation"`
	// MaxMemoryBytes bounds the memory of one plugin.
	MaxMemoryBytes int `koanf:"maxMemoryBytes"`
	// Grants are exceptions from isolation, by strategy.
	Grants map[string]Grant `koanf:"grants"`
	// Required are the plugins that must be installed, by strategy.
	Required map[string]Required `koanf:"required"`
	// Registry is the address where the releases of github.com/… are; RegistryHeader names a variable of the environment
	// with a header for it, "" for none.
	Registry string `koanf:"registry"`
	// Index is the address of a file, or an absolute path.
	Index          string `koanf:"index"`
	RegistryHeader string `koanf:"registryHeader"`
}

// Required is a plugin that must be installed. Source is never empty.
type Required struct {
	Source string `koanf:"source"`
	// Version is exact, or a range that begins with ^; "" for any.
	Version string `koanf:"version"`
	// Key is a public key of minisign; "" if that of the first installation holds.
	Key string `koanf:"key"`
}

type Grant struct {
	Network   bool `koanf:"network"`
	Processes bool `koanf:"processes"`
	// Read are absolute paths of files and directories that the plugin may read, and run programs from.
	Read []string `koanf:"read"`
}

type Log struct {
	// Level is trace, debug, info, warn or error.
	Level string `koanf:"level"`
	// Format is text or json.
	Format string `koanf:"format"`
}

type Serve struct {
	// Listen is HOST:PORT or unix:PATH, checked when used.
	Listen string `koanf:"listen"`
	// TokenFile is an absolute path; "" if the local user has no token.
	TokenFile string   `koanf:"tokenFile"`
	TLS       ServeTLS `koanf:"tls"`
	// Drain is how long requests in progress may take to end.
	Drain time.Duration `koanf:"drain"`
}

// ServeTLS holds the settings under "serve.tls": absolute paths, or "" without TLS.
type ServeTLS struct {
	Cert string `koanf:"cert"`
	Key  string `koanf:"key"`
}

type Metrics struct {
	// Listen is an address such as 127.0.0.1:9464, checked when used; "" serves no metrics.
	Listen string `koanf:"listen"`
}

type Proxy struct {
	// Listen is HOST:PORT, checked when used; "" if 'thresh serve' is no proxy.
	Listen    string    `koanf:"listen"`
	Upstreams Upstreams `koanf:"upstreams"`
	// Recall lets the agent's model find what was removed.
	Recall bool `koanf:"recall"`
}

// Upstreams are the providers' base URLs. OpenAI's has the version, the others do not.
type Upstreams struct {
	Anthropic string `koanf:"anthropic"`
	OpenAI    string `koanf:"openai"`
	Gemini    string `koanf:"gemini"`
}

// CompressSettings returns the settings that a strategy is told for a Compress. Todos and TranscriptPath, which belong
// to a session, are empty.
func (s Settings) CompressSettings() sdk.CompressSettings {
	return sdk.CompressSettings{
		ContextLimit: s.Model.ContextLimit, CompletionBudget: s.Model.CompletionBudget,
		PreserveThreshold: s.Compression.PreserveThreshold, TopPreserveThreshold: s.Compression.TopPreserveThreshold,
		UserMessageBudget: sdk.DefaultCompressSettings().UserMessageBudget,
	}
}

// clone returns a copy that shares nothing a caller could change.
func (s Settings) clone() Settings {
	if t := s.Compression.Threshold; t != nil {
		s.Compression.Threshold = new(*t)
	}
	s.Compression.Keep = slices.Clone(s.Compression.Keep)
	s.Compression.Density.ToolPresets = slices.Clone(s.Compression.Density.ToolPresets)
	s.Compression.Density.Tools = slices.Clone(s.Compression.Density.Tools)
	s.Plugins.Dirs = slices.Clone(s.Plugins.Dirs)
	s.Plugins.Grants = maps.Clone(s.Plugins.Grants)
	for name, grant := range s.Plugins.Grants {
		grant.Read = slices.Clone(grant.Read)
		s.Plugins.Grants[name] = grant
	}
	s.Plugins.Required = maps.Clone(s.Plugins.Required)
	s.Strategies = maps.Clone(s.Strategies)
	for name, own := range s.Strategies {
		s.Strategies[name] = maps.Clone(own)
	}
	return s
}
