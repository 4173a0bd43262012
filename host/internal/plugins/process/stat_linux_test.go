package process

import (
	"os/exec"
	"testing"
	"time"
)

// On a busy machine it takes long until a process that was killed is gone. Who waits for a moment waits that long, so
// that the plugin is not taken for one that broke its connection.
func TestAProcessThatIsBeingRemovedIsWaitedFor(t *testing.T) {
	c := &child{exit: exit{done: make(chan struct{})}}
	c.cmd = exec.Command("sleep", "60")
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if c.gone(time.Nanosecond) {
		t.Error("a process that runs is gone")
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = stdout.Read(make([]byte, 1)) // until the kernel has closed its files
	// It is not waited for yet, and is a zombie.
	time.AfterFunc(50*time.Millisecond, func() { close(c.exit.done) })
	if !c.gone(time.Nanosecond) {
		t.Error("a process that was killed is not waited for")
	}
	_ = c.cmd.Wait()
}
