// Package early is for programs that start plugins in isolation: imported for its effect alone, it halves what that adds to a
// start.
//
//	import _ "github.com/thresh-dev/thresh/host/early"
//
// A launcher is the program started once more, and would first initialise every package of it: those of model providers, gRPC and
// metrics take several milliseconds. This package imports next to nothing, and Go initialises packages in the order of their
// paths as soon as what they import is ready; so the launcher has become the plugin before the larger ones have their turn.
//
// It is an import of the program's own choice, and the only one in thresh that acts when it is initialised. Without it,
// host.ReexecMain does the same a little later.
package early

import "github.com/thresh-dev/thresh/host/internal/plugins/isolate"

func init() { isolate.Main() }
