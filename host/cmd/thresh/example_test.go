package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// What people copy first has to be good: the program in the README is the one below sdk, which passes all that is
// demanded.
func TestTheExampleInTheREADMEIsVerified(t *testing.T) {
	t.Parallel()
	const programs = "../../../sdk/serve/testdata/programs"
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(programs, "keep-last", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(source)+"```") {
		t.Error("the program in the README is another than sdk/serve/testdata/programs/keep-last")
	}
	names := []string{"keep-last"}
	if !testing.Short() {
		names = append(names, "forget-thoughts")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			binary := p.path("work", "thresh-strategy-"+name)
			if err := binaries.Program(binary, "sdk/serve/testdata/programs/"+name); err != nil {
				t.Fatal(err)
			}
			verify := []string{"plugins", "verify", binary}
			if testing.Short() { // the checks that take longest are left out
				verify = append(verify, "--only", "handshake,stdout,getinfo,settings-defaults,settings-garbage,call-order,"+
					"optimize-valid,compress-valid,compress-human,compress-target,cancellation,sigint,sigterm,lifeline")
			}
			r := p.run(verify...)
			if r.code != 0 || !strings.Contains(r.stdout, " 0 failed") {
				t.Errorf("exit status %d:\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}
