// Package early makes isolated plugins start faster. Import it for its side effect:
//
//	import _ "github.com/thresh-dev/thresh/host/early"
//
// A launcher is the program itself, started again, and would first initialise all its packages: those of model
// providers, gRPC and metrics take several milliseconds. This package imports almost nothing. Go initialises packages
// in the order of their paths once their imports are initialised, so the launcher becomes the plugin before the
// larger packages are initialised. A host's first isolated plugin starts sooner by that; for later ones a launcher is
// ready.
//
// The import is optional, and the only one in thresh with a side effect. Without it, host.ReexecMain does the same
// later; a program calls that in any case.
package early

import "github.com/thresh-dev/thresh/host/internal/plugins/isolate"

func init() { isolate.Main() }
