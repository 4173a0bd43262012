// Package samples holds histories for trying out strategies: ordinary ones, and everything that has ever confused
// one.
//
// It is internal to this repository: package sdk/sdktest feeds the samples to strategies inside a test, and the
// conformance check (thresh plugins verify) feeds them to plugins. Start at [All]. The histories are the same in
// every run. samples.go holds the ordinary ones and the helpers, odd.go one function per kind of oddity.
package samples
