// Package host is the embedding API. It is being separated from internal/engine; for now its types are the engine's.
package host

import "github.com/thresh-dev/thresh/host/internal/engine"

type (
	Host           = engine.Host
	Options        = engine.Options
	Session        = engine.Session
	SessionOptions = engine.SessionOptions
	PrepareOptions = engine.PrepareOptions
	Prepared       = engine.Prepared
)

// Open opens a host.
func Open(o Options) (*Host, error) { return engine.Open(o) }

// ReexecMain is the launcher of isolated plugins.
func ReexecMain() { engine.ReexecMain() }
