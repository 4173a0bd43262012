package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// escapes tries what a plugin must not be able to do, and tells how each attempt ended: "name=error". The setting
// keep is a port of this machine on which the test listens.
func escapes(config []byte) string {
	var settings struct{ Keep int }
	_ = json.Unmarshal(config, &settings)
	local := fmt.Sprintf("127.0.0.1:%d", settings.Keep)
	dial := func(network, address string) error {
		conn, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write([]byte("every word of the conversation"))
		return err
	}
	_, passwd := os.ReadFile("/etc/passwd")
	_, environ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	dir, _ := os.Getwd()
	var files syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
	attempts := []struct {
		name string
		err  error
	}{
		{"tcp", dial("tcp", local)},
		{"udp", dial("udp", local)},
		{"tcp6", dial("tcp", "[::1]:1")},
		{"abstract", dial("unix", fmt.Sprintf("@thresh-test-%d", os.Getppid()))},
		{"passwd", passwd},
		{"environ", environ},
		{"signal", syscall.Kill(os.Getppid(), 0)},
		{"write-outside", os.WriteFile("/tmp/thresh-test-escaped", nil, 0o600)},
		{"write-above", os.WriteFile(dir+"/../escaped", nil, 0o600)},
		{"write-inside", os.WriteFile(dir+"/inside", []byte("x"), 0o600)},
		{"fewer-files", map[bool]error{false: fmt.Errorf("%d", files.Max)}[files.Max <= 1024]},
	}
	_ = os.Remove("/tmp/thresh-test-escaped")
	_ = os.Remove(dir + "/../escaped")
	var out []string
	for _, a := range attempts {
		text := "done"
		if a.err != nil {
			text = a.err.Error()
			if i := strings.LastIndex(text, ": "); i >= 0 {
				text = text[i+2:]
			}
		}
		out = append(out, a.name+"="+text)
	}
	return strings.Join(out, ",")
}

// eat takes memory until there is none.
func eat() {
	var all [][]byte
	for {
		b := make([]byte, 16<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
}
