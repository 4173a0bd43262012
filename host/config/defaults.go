package config

// Defaults returns the settings in force without any file, variable or flag. Settings whose default depends on the
// machine (plugins.dirs, plugins.lockFile, serve.tokenFile, workspace.root) are empty.
func Defaults() Settings {
	c := &Config{session: newLayer(LayerSession)}
	if _, err := c.resolved(&problems{}); err != nil {
		panic("config: the defaults are not valid: " + err.Error()) // the registry's tests would fail first
	}
	s := c.Settings()
	s.Plugins.Dirs, s.Plugins.LockFile, s.Serve.TokenFile, s.Workspace.Root = nil, "", "", ""
	return s
}
