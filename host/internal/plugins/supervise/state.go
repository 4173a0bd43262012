package supervise

// State says where a plugin is in its life, and in a listing what a file is good for.
//
//	discovered → verified → starting → described → ready ⇄ suspect
//	ready, suspect → crashed → (after a delay, when it is needed) discovered …
//	crashed too often → quarantined
//	verified, starting → host-fault, when the environment lacks something → (at the next call) discovered …
//	ready → draining → stopped
type State string

// One goroutine per plugin moves it from one state to the next, and logs each step.
const (
	StateDiscovered State = "discovered"
	// The file is the one that may be run.
	StateVerified State = "verified"
	StateStarting State = "starting"
	// Its GetInfo answer was accepted, its settings are not yet.
	StateDescribed State = "described"
	StateReady     State = "ready"
	// It let a call time out or lost its connection, and is being asked whether it still answers.
	StateSuspect State = "suspect"
	// Its process ended by itself. A call starts it again, after a delay that grows.
	StateCrashed State = "crashed"
	// It crashed too often. It is not started again until its file changes or [Strategy.Reset].
	StateQuarantined State = "quarantined"
	// Its process takes no new calls and ends when the running ones are done.
	StateDraining State = "draining"
	// Its process was ended because it was no longer needed.
	StateStopped State = "stopped"
	// The host's environment kept it from being started; the next call tries again. Reason says what is lacking.
	StateHostFault State = "host-fault"
	// The file is no plugin, or did not become ready; Reason says why.
	StateBroken State = "broken"
)

// States of a listed file that is not started.
const (
	// A person has to accept the file first; Reason says why, and how.
	StateUntrusted State = "untrusted"
	// A plugin with the same name in an earlier directory is used instead; Reason says which.
	StateShadowed State = "shadowed"
	// Path is no file but a plugin directory that cannot be searched; Reason says why.
	StateNoDirectory State = "no-directory"
)
