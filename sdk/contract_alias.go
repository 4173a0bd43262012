package sdk

import "github.com/thresh-dev/thresh/sdk/contract"

// What a strategy declares about itself, from package [contract].
type (
	// Info is what a strategy tells the host at the handshake. See [contract.Info].
	Info = contract.Info
	// Trigger says when the host calls a strategy; make it with [Continuous] or [Threshold]. See [contract.Trigger].
	Trigger = contract.Trigger
	// TriggerMode is [ModeContinuous] or [ModeThreshold]. See [contract.TriggerMode].
	TriggerMode = contract.TriggerMode
	// ConfigField declares one setting of a strategy. See [contract.ConfigField].
	ConfigField = contract.ConfigField
	// ConfigType is the type of a setting. See [contract.ConfigType].
	ConfigType = contract.ConfigType
	// Config is a strategy's own settings. See [contract.Config].
	Config = contract.Config
)

// The trigger modes (REQ-HD-001.1).
const (
	ModeContinuous = contract.ModeContinuous
	ModeThreshold  = contract.ModeThreshold
)

// Continuous is the trigger of a strategy that has Optimize, which then runs before every threshold check.
func Continuous(defaultThreshold float64) Trigger {
	return Trigger{Mode: ModeContinuous, DefaultThreshold: defaultThreshold}
}

// Threshold is the trigger of a strategy that only has Compress.
func Threshold(defaultThreshold float64) Trigger {
	return Trigger{Mode: ModeThreshold, DefaultThreshold: defaultThreshold}
}

const (
	Boolean = contract.Boolean
	Integer = contract.Integer
	Number  = contract.Number
	String  = contract.String
)

type (
	// CallParams are the parameters of every call. See [contract.CallParams].
	CallParams = contract.CallParams
	// CallSettings are the settings in [CallParams]. See [contract.CallSettings].
	CallSettings = contract.CallSettings
	// OptimizeParams are the parameters of an Optimize. See [contract.OptimizeParams].
	OptimizeParams = contract.OptimizeParams
	// CompressParams are the parameters of a Compress. See [contract.CompressParams].
	CompressParams = contract.CompressParams
	// CompressSettings are the settings in [CompressParams]. See [contract.CompressSettings].
	CompressSettings = contract.CompressSettings
	// DensityConfig holds the settings under compression.density. See [contract.DensityConfig].
	DensityConfig = contract.DensityConfig
	// PartialWrites is [PartialWritesPrune] or [PartialWritesKeep]. See [contract.PartialWrites].
	PartialWrites = contract.PartialWrites
	// CompressReason says why Compress is called. See [contract.CompressReason].
	CompressReason = contract.CompressReason
	// Model is what a strategy knows of the model behind [Host].Generate. See [contract.Model].
	Model = contract.Model
	// Todo is one task of the agent's list. See [contract.Todo].
	Todo = contract.Todo
)

// The values of compression.density.partialWrites.
const (
	PartialWritesPrune = contract.PartialWritesPrune
	PartialWritesKeep  = contract.PartialWritesKeep
)

const (
	ReasonThreshold = contract.ReasonThreshold
	ReasonHardLimit = contract.ReasonHardLimit
	ReasonManual    = contract.ReasonManual
	ReasonCacheCold = contract.ReasonCacheCold
)

// TargetShare of the threshold is what a compressed history should fit into. See [contract.TargetShare].
const TargetShare = contract.TargetShare

type (
	// Reason says why an entry was removed or replaced. See [contract.Reason].
	Reason = contract.Reason
	// DensityMetadata counts what an Optimize did. See [contract.DensityMetadata].
	DensityMetadata = contract.DensityMetadata
	// NoOpReason says why a Compress had nothing to do. See [contract.NoOpReason].
	NoOpReason = contract.NoOpReason
	// CompressMetadata says what a Compress did. See [contract.CompressMetadata].
	CompressMetadata = contract.CompressMetadata
)

// The reasons for a no-op that the shipped strategies and the host give.
const (
	NoOpEmptyHistory       = contract.NoOpEmptyHistory
	NoOpTailCoversAll      = contract.NoOpTailCoversAll
	NoOpAlreadyUnderTarget = contract.NoOpAlreadyUnderTarget
	NoOpNoGain             = contract.NoOpNoGain
	NoOpTooFew             = contract.NoOpTooFew
	NoOpShrunkBelowMinimum = contract.NoOpShrunkBelowMinimum
)

type (
	// Host is what a strategy can ask the host for, during its Compress only. See [contract.Host].
	Host = contract.Host
	// GenerateRequest is one request to the host's model. See [contract.GenerateRequest].
	GenerateRequest = contract.GenerateRequest
	// Completion is what the model answered. See [contract.Completion].
	Completion = contract.Completion
)
