package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk"
)

// Package contract says what a strategy is told when no setting is set; the test kit for authors uses it. Each of these
// values must reach the settings, and come back from them.
func TestDefaultsAreThoseThatStrategiesAreTestedWith(t *testing.T) {
	m := newMachine(t)
	set := m.load(m.options()).Settings()
	if diff := cmp.Diff(sdk.DefaultCompressSettings(), set.CompressSettings()); diff != "" {
		t.Errorf("compress (-contract +settings):\n%s", diff)
	}
	if diff := cmp.Diff(sdk.DefaultDensityConfig(), set.Compression.Density.DensityConfig); diff != "" {
		t.Errorf("density (-contract +settings):\n%s", diff)
	}
}
