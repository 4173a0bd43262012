package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/sdk/contract"
)

// Package contract says what a strategy is told when no setting is set; the test kit for authors uses it. It must be what
// the registry of settings says.
func TestDefaultsAreThoseThatStrategiesAreTestedWith(t *testing.T) {
	m := newMachine(t)
	set := m.load(m.options()).Settings()
	got := contract.CompressSettings{
		ContextLimit: set.Model.ContextLimit, CompletionBudget: set.Model.CompletionBudget,
		PreserveThreshold: set.Compression.PreserveThreshold, TopPreserveThreshold: set.Compression.TopPreserveThreshold,
		UserMessageBudget: set.Compression.UserMessageBudget, Verification: set.Compression.Verification,
	}
	if diff := cmp.Diff(contract.DefaultCompressSettings(), got); diff != "" {
		t.Errorf("compress (-contract +settings):\n%s", diff)
	}
	d := set.Compression.Density
	density := contract.DensityConfig{
		ReadWritePruning: d.ReadWritePruning, FileDedupe: d.FileDedupe, RecencyPruning: d.RecencyPruning,
		RecencyRetention: int(d.RecencyRetention), PartialWrites: contract.PartialWrites(d.PartialWrites),
	}
	if diff := cmp.Diff(contract.DefaultDensityConfig(), density); diff != "" {
		t.Errorf("density (-contract +settings):\n%s", diff)
	}
}
