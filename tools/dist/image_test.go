package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// imageOfThisMachine reads the image of dist/ as a runtime does.
func imageOfThisMachine(t *testing.T) v1.Image {
	t.Helper()
	dir := t.TempDir()
	run(t, "tar", "-xf", made(t, "thresh_*_oci.tar"), "-C", dir)
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := outer.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		t.Fatalf("%+v, %v: want one entry", m, err)
	}
	index, err := outer.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	for _, one := range m.Manifests {
		if one.Platform.OS == runtime.GOOS && one.Platform.Architecture == runtime.GOARCH {
			image, err := index.Image(one.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("no image for this machine: %+v", m)
	return nil
}

// inRoot runs a program whose files are in root, as a user, with what runtimes mount. The namespace that it is mounted in
// ends with the program.
func inRoot(t *testing.T, root, user string, env []string, args ...string) string {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: nothing can be mounted here, so nothing runs in %s: %v %s", root, err, out)
	}
	const start = `mkdir -p $0/proc $0/dev $0/tmp; touch $0/dev/null; chmod 1777 $0/tmp
mount -t proc proc $0/proc; mount --bind /dev/null $0/dev/null
exec chroot --userspec=$RUN_AS $0 "$@"`
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "--", "sh", "-ec", start, root}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "RUN_AS=" + user}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v %s", args, err, out)
	}
	return string(out)
}

// rootDir is a directory that users without rights can enter, as they must to run something there.
func rootDir(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("", "thresh-root-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// Without a container runtime: the layers unpacked, and the program started in them as the image says.
func TestTheImageRunsOnItsOwnFiles(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("SKIPPED: the image is not run without the rights of root on Linux")
	}
	image := imageOfThisMachine(t)
	root := rootDir(t)
	files := mutate.Extract(image)
	defer files.Close()
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-p", "--same-owner", "-C", root)
	unpack.Stdin = files
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	inside := func(args ...string) string {
		t.Helper()
		return inRoot(t, root, config.Config.User, config.Config.Env, append(config.Config.Entrypoint, args...)...)
	}
	list := inside("plugins", "list", "-o", "json")
	if n := strings.Count(list, `"state":"ready"`); n != 5 {
		t.Errorf("%d strategies are ready:\n%s", n, list)
	}
	inside("access", "set", "alice") // into the volume
	if list := inside("access", "list"); !strings.Contains(list, "alice") {
		t.Errorf("access list:\n%s", list)
	}
	if _, err := os.Stat(filepath.Join(root, "state", "thresh", "sessions.db")); err != nil {
		t.Error(err)
	}
}
