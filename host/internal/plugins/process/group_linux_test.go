package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// After a process was waited for, the system may give its number to others. Here a member of its group still has it.
func TestTheGroupOfAReapedProcessIsLeftAlone(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "cat <&3 >&4 &")
	cmd.SysProcAttr = processAttributes(nil)
	cmd.ExtraFiles = []*os.File{inR, outW}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	_ = inR.Close()
	_ = outW.Close()
	killGroup(cmd.Process)
	if err := signalGroup(cmd.Process, syscall.SIGTERM); err == nil {
		t.Error("a process that is gone was signalled")
	}
	fmt.Fprintln(inW, "still here")
	_ = inW.Close()
	if line, err := bufio.NewReader(outR).ReadString('\n'); line != "still here\n" {
		t.Errorf("the other process says %q, %v", line, err)
	}
}
