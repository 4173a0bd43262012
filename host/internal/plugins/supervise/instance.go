package supervise

import (
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
)

// instance is a plugin with its users. It is ended only when the last user has released it, except by a crash or when
// the host closes.
type instance struct {
	*client.Plugin
	users   atomic.Int64          // how many acquired it and have not released it
	retired atomic.Pointer[error] // why it takes no new calls; nil: it takes them
	gone    chan struct{}         // closed when nothing of it is left
}

func newInstance(p *client.Plugin) *instance { return &instance{Plugin: p, gone: make(chan struct{})} }

// retire ends the process when the calls that are under way are done. From now on it must not be acquired.
func (i *instance) retire(why error) {
	i.retired.Store(&why)
	if i.users.Load() == 0 {
		i.End(why)
	}
}

// release undoes one acquire.
func (i *instance) release() {
	if i.users.Add(-1) > 0 {
		return
	}
	if why := i.retired.Load(); why != nil {
		i.End(*why)
	}
}

// Lease is the right to call a plugin's process until Release.
type Lease struct{ instance *instance }

// Plugin is the process that was leased.
func (l Lease) Plugin() *client.Plugin { return l.instance.Plugin }

// Retired reports whether the process takes no new calls and ends when its leases are released.
func (l Lease) Retired() bool { return l.instance.retired.Load() != nil }

// Release gives the process back. Call it once.
func (l Lease) Release() { l.instance.release() }
