// Package samples holds histories that strategies are tried on: ordinary ones, and all that has ever confused one.
//
// It is ours alone: package sdktest gives them to strategies inside of a test, package host/verify to plugins. Start at
// [All]. The histories are the same in every run.
package samples
