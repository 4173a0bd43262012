package supervise

// State says where a plugin is in its life, and in a listing what a file is good for.
//
//	discovered → verified → starting → described → ready ⇄ suspect
//	ready, suspect → crashed → (after a delay, when it is needed) discovered …
//	crashed too often → quarantined
//	verified, starting → host-fault, when the environment lacks something → (at the next call) discovered …
//	ready → draining → stopped
type State string

// The states of a plugin. One goroutine per plugin moves it from one to the next, and logs each step.
const (
	// StateDiscovered: its file was found and is about to be verified.
	StateDiscovered State = "discovered"
	// StateVerified: the file is the one that may be run.
	StateVerified State = "verified"
	// StateStarting: its process was asked for.
	StateStarting State = "starting"
	// StateDescribed: its GetInfo answer was accepted, its settings are not yet.
	StateDescribed State = "described"
	// StateReady: it was started and described itself, and can be used.
	StateReady State = "ready"
	// StateSuspect: it let a call time out or lost its connection, and is being asked whether it still answers.
	StateSuspect State = "suspect"
	// StateCrashed: its process ended by itself. A call starts it again, after a delay that grows.
	StateCrashed State = "crashed"
	// StateQuarantined: it crashed too often. It is not started again until its file changes or [Strategy.Reset].
	StateQuarantined State = "quarantined"
	// StateDraining: its process takes no new calls and ends when those under way are done.
	StateDraining State = "draining"
	// StateStopped: its process was ended because it was no longer needed.
	StateStopped State = "stopped"
	// StateHostFault: the host's environment kept it from being started; the next call tries again. Reason says what is
	// lacking.
	StateHostFault State = "host-fault"
	// StateBroken: the file is no plugin, or did not become ready; Reason says why.
	StateBroken State = "broken"
)

// The states of a listed file that is never started.
const (
	// StateShadowed: a plugin with the same name in an earlier directory is used instead; Reason says which.
	StateShadowed State = "shadowed"
	// StateNoDirectory: Path is no file but a plugin directory that cannot be searched; Reason says why.
	StateNoDirectory State = "no-directory"
)
