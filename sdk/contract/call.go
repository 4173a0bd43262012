package contract

// CallSettings are the settings that every call of a strategy carries.
type CallSettings struct {
	// WorkspaceRoot is absolute; relative paths in tool parameters are resolved against it (REQ-HD-005.11).
	WorkspaceRoot string
	// Config holds the strategy's own settings for this session.
	Config Config
}

// CallParams is what Optimize and Compress have in common, apart from the history itself.
type CallParams struct {
	SessionID string
	// Revision of the history, as the host counts it. It changes with every change of the history, and an answer that
	// is for another revision is refused.
	Revision uint64
	CallSettings
}
