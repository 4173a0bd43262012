// Package samples holds histories for trying out strategies: ordinary ones, and everything that has ever confused
// one.
//
// Package conform feeds them to strategies inside a test, and to plugins. Start at [All]. The histories are the same in
// every run. samples.go holds the ordinary ones and the helpers, odd.go one function per kind of oddity.
package samples
