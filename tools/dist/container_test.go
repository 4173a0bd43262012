package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// containers is a runtime that works here and has loaded the image of dist/, with what is put before its subcommands;
// nil if there is none. One that is installed may still not run anything, as in a container.
func containers(t *testing.T, image string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: only a release for Linux has an image")
	}
	file := made(t, "thresh_*_oci.tar")
	var why []string
	for _, way := range [][]string{{"podman"}, {"podman", "--runtime", "runc"}, {"docker"}} {
		call := func(args ...string) string {
			out, err := exec.Command(way[0], append(way[1:len(way):len(way)], args...)...).CombinedOutput()
			if err != nil {
				why = append(why, fmt.Sprintf("%s: %v %s", strings.Join(way, " "), err, out))
				return ""
			}
			return string(out)
		}
		_, loaded, _ := strings.Cut(call("load", "--input", file), ": ") // Loaded image: NAME
		if loaded = strings.TrimSpace(loaded); loaded != "" && call("tag", loaded, image) == "" &&
			call(append(runFlags("--rm"), image, "--version")...) != "" {
			return way
		}
	}
	missing := "no container runtime works here: the image is run in a chroot only\n" + strings.Join(why, "\n")
	fmt.Fprintln(os.Stderr, "NOTE: "+missing)
	t.Skip("SKIPPED: " + missing)
	return nil
}

// runFlags are those of docs/production.md, with limits that a user without rights may set, and the machine's network.
func runFlags(more ...string) []string {
	return append([]string{"run", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all",
		"--security-opt", "no-new-privileges", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000",
		"--network", "host"}, more...)
}

// TestTheImageServes: without rights, on a file system that cannot be written, with sessions that outlive the
// container.
func TestTheImageServes(t *testing.T) {
	const image = "thresh-test"
	name := fmt.Sprint("thresh-test-", os.Getpid())
	way := containers(t, image)
	do := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(way[0], append(way[1:len(way):len(way)], args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Cleanup(func() {
		for _, args := range [][]string{{"rm", "-f", name}, {"volume", "rm", "-f", name}, {"rmi", "-f", image}} {
			_ = exec.Command(way[0], append(way[1:len(way):len(way)], args...)...).Run()
		}
	})
	plugins := do(append(runFlags("--rm"), image, "plugins", "list", "-o", "json")...)
	if n := strings.Count(plugins, `"state":"ready"`); n != 5 {
		t.Errorf("%d strategies are ready:\n%s", n, plugins)
	}
	serve := func() (url string) {
		t.Helper()
		do(append(runFlags("-d", "--name", name, "-v", name+":/state"),
			image, "serve", "--set", "serve.listen=127.0.0.1:0")...)
		for range 200 {
			if _, url, ok := strings.Cut(do("logs", name), "thresh: serving at "); ok {
				url, _, _ = strings.Cut(url, "\n")
				return strings.TrimSpace(url)
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("it does not serve:\n%s", do("logs", name))
		return ""
	}
	end := func() {
		t.Helper()
		do("stop", "-t", "40", name)
		if code := strings.TrimSpace(do("inspect", "--format", "{{.State.ExitCode}}", name)); code != "0" {
			t.Errorf("exit status %s:\n%s", code, do("logs", name))
		}
		do("rm", name)
	}
	url := serve()
	token := strings.TrimSpace(do("exec", name, "/thresh", "access", "set", "alice"))
	for _, c := range [][2]string{
		{"session.open", `{"id":"s1"}`},
		{"history.add", `{"session":"s1","format":"anthropic","messages":[{"role":"user","content":"hello"}]}`},
	} {
		request, err := http.NewRequest("POST", url+"/v1/"+c[0], strings.NewReader(c[1]))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", c[0], answer.Status)
		}
	}
	end()
	serve()
	if list := do("exec", name, "/thresh", "sessions", "list"); !strings.Contains(list, "s1") ||
		!strings.Contains(list, "alice") {
		t.Errorf("after a restart:\n%s", list)
	}
	end()
}
