package supervise

import (
	"sync/atomic"

	"github.com/thresh-dev/thresh/host/internal/plugins/client"
)

// instance is a running plugin with a count of its users. A replaced instance ends when its last user has released it:
// no call fails because of an update. Crashes and closing the host do not wait for users.
type instance struct {
	*client.Plugin
	users   atomic.Int64
	leases  atomic.Int64          // granted so far
	retired atomic.Pointer[error] // why it takes no new calls; nil: it takes them
	gone    chan struct{}         // closed when nothing of it is left
}

func newInstance(p *client.Plugin) *instance { return &instance{Plugin: p, gone: make(chan struct{})} }

// retire ends the process when the running calls are done. Only the owner calls it, and never grants the instance
// afterwards; otherwise users could rise from 0 after the check here.
func (i *instance) retire(why error) {
	i.retired.Store(&why)
	if i.users.Load() == 0 {
		i.End(why)
	}
}

// hold counts a user and its lease, in this order: a look between the two sees it as busy.
func (i *instance) hold() {
	i.users.Add(1)
	i.leases.Add(1)
}

func (i *instance) release() {
	if i.users.Add(-1) > 0 {
		return
	}
	if why := i.retired.Load(); why != nil {
		i.End(*why)
	}
}

// Lease is the right to call a plugin's process until Release. Do not copy it: Release counts.
type Lease struct{ instance *instance }

func (l Lease) Plugin() *client.Plugin { return l.instance.Plugin }

// Retired reports whether the process takes no new calls and will end when its leases are released.
func (l Lease) Retired() bool { return l.instance.retired.Load() != nil }

// Release must be called exactly once; the process may end then.
func (l Lease) Release() { l.instance.release() }
