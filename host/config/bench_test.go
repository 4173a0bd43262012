package config_test

import "testing"

// A session override is made for every session.set, so that its cost is part of a session's.
func BenchmarkWith(b *testing.B) {
	m := newMachine(b)
	m.write(m.projectFile(), twoProfiles)
	c := m.load(m.options())
	for b.Loop() {
		if _, err := c.With("compression.threshold", 0.5, "session.set"); err != nil {
			b.Fatal(err)
		}
	}
}

// The host asks for the settings on every turn.
func BenchmarkSettings(b *testing.B) {
	m := newMachine(b)
	m.write(m.projectFile(), twoProfiles)
	c := m.load(m.options())
	for b.Loop() {
		_ = c.Settings()
	}
}
