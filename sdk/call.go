package sdk

// CallSettings are the settings that every call of a strategy carries.
type CallSettings struct {
	// WorkspaceRoot is absolute; relative paths in tool parameters are resolved against it.
	WorkspaceRoot string
	// Config holds the strategy's own settings for this session.
	Config Config
}

// CallParams is what Optimize and Compress have in common, apart from the history.
type CallParams struct {
	SessionID string
	// Revision changes with every change of the history. The host refuses an answer for another revision.
	Revision uint64
	CallSettings
}
