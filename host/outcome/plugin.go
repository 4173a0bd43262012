package outcome

import "github.com/thresh-dev/thresh/sdk"

// Plugin is a file that was found, a built-in strategy, or a directory in which nothing could be. Its JSON form is
// stable: fields are only ever added.
type Plugin struct {
	Name string `json:"name"`
	// Path is absolute. For a built-in strategy, it is the host's program.
	Path        string `json:"path"`
	BuiltIn     bool   `json:"builtIn,omitempty"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Trigger is empty if the plugin could not be asked.
	Trigger          sdk.TriggerMode `json:"trigger,omitempty"`
	DefaultThreshold float64         `json:"defaultThreshold,omitempty"`
	EarlyThreshold   float64         `json:"earlyThreshold,omitempty"`
	RequiresLLM      bool            `json:"requiresLLM"`
	// SHA256 is that of the file that runs, or would, in hexadecimal; empty if it cannot be read, and for a built-in
	// strategy.
	SHA256 string `json:"sha256,omitempty"`
	// NewSHA256 is that of the file that is there now, if another one runs: Reason says why it is not used.
	NewSHA256 string      `json:"newSha256,omitempty"`
	State     PluginState `json:"state"`
	// Reason is a sentence for any state but ready; for ready, it says why a newer version of the file is not used.
	Reason string `json:"reason,omitempty"`
	// Isolation are the names of the measures that its process runs under.
	Isolation []string `json:"isolation,omitempty"`
	// Lacking are the measures that its process does without, with the reason.
	Lacking []string `json:"lacking,omitempty"`
	// Stderr is the end of a broken plugin's standard error, at most 8 KiB.
	Stderr string `json:"stderr,omitempty"`
}

// PluginState says where a plugin is in its life, and in a listing what a file is good for.
//
//	discovered → verified → starting → described → ready ⇄ suspect
//	ready, suspect → crashed → (after a delay, when it is needed) discovered …
//	crashed too often → quarantined
//	verified, starting → host-fault, when the environment lacks something → (at the next call) discovered …
//	ready → draining → stopped
type PluginState string

// The states of a plugin's process. The host logs each step from one to the next.
const (
	StateDiscovered PluginState = "discovered"
	// The file is the one that may be run.
	StateVerified PluginState = "verified"
	StateStarting PluginState = "starting"
	// Its GetInfo answer was accepted, its settings are not yet.
	StateDescribed PluginState = "described"
	StateReady     PluginState = "ready"
	// It let a call time out or lost its connection, and is being asked whether it still answers.
	StateSuspect PluginState = "suspect"
	// Its process ended by itself. A call starts it again, after a delay that grows.
	StateCrashed PluginState = "crashed"
	// It crashed too often. It is not started again until its file changes or it is reset.
	StateQuarantined PluginState = "quarantined"
	// Its process takes no new calls and ends when the running ones are done.
	StateDraining PluginState = "draining"
	// Its process was ended because it was no longer needed.
	StateStopped PluginState = "stopped"
	// The host's environment kept it from being started; the next call tries again. Reason says what is lacking.
	StateHostFault PluginState = "host-fault"
	// The file is no plugin, or did not become ready; Reason says why.
	StateBroken PluginState = "broken"
)

// States of a listed file that is not started.
const (
	// A person has to accept the file first; Reason says why, and how.
	StateUntrusted PluginState = "untrusted"
	// A plugin with the same name in an earlier directory is used instead; Reason says which.
	StateShadowed PluginState = "shadowed"
	// Path is no file but a plugin directory that cannot be searched; Reason says why.
	StateNoDirectory PluginState = "no-directory"
)
