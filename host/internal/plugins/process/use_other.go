//go:build !linux

package process

// watchUse does nothing: a process is isolated on Linux only.
func (c *child) watchUse() {}
