package config

// Defaults returns the settings that are in force when nothing is configured: no file, no environment variable, no
// flag. Settings whose default depends on the machine or the working directory (plugins.dirs, plugins.lockFile,
// serve.tokenFile, workspace.root) are left empty.
func Defaults() Settings {
	// Without places, every default that depends on the machine is empty or missing.
	c := &Config{session: newLayer(LayerSession)}
	if _, err := c.resolved(&problems{}); err != nil {
		panic("config: the defaults are not valid: " + err.Error()) // the registry's tests would fail first
	}
	s := c.Settings()
	s.Plugins.Dirs, s.Plugins.LockFile, s.Serve.TokenFile, s.Workspace.Root = nil, "", "", ""
	return s
}
