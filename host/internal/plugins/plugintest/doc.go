// Package plugintest holds what the tests below host/internal/plugins share: files and processes of plugins, and ways
// to wait for them.
package plugintest
