package serve_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thresh-dev/thresh/internal/rewrite"
	"github.com/thresh-dev/thresh/internal/testkit/binaries"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/sdk"
)

// built compiles a program below testdata/programs and returns the command that starts it.
func built(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "thresh-strategy-"+name)
	if err := binaries.Program(binary, "sdk/serve/testdata/programs/"+name); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Env = append(cmd.Env, "TMPDIR="+t.TempDir())
	return cmd
}

func source(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "programs", name, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func TestAStrategyIsShort(t *testing.T) {
	for name, most := range map[string]int{"keep-last": 27, "forget-thoughts": 45} {
		if n := len(source(t, name)); n > most {
			t.Errorf("%s has %d lines, more than %d", name, n, most)
		}
	}
}

func TestTheExampleInTheREADMEIsTheProgram(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+strings.Join(source(t, "keep-last"), "\n")+"\n```") {
		t.Error("the program in the README is another than testdata/programs/keep-last")
	}
}

func TestTheExampleInThePackageCommentIsTheProgram(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	var example []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			example = append(example, code)
		} else if line == "//" && len(example) > 0 {
			example = append(example, "")
		} else if len(example) > 0 {
			break
		}
	}
	got := strings.TrimSpace(strings.Join(example, "\n"))
	if diff := cmp.Diff(strings.Join(source(t, "keep-last"), "\n"), got); diff != "" {
		t.Errorf("(-program +comment):\n%s", diff)
	}
}

func TestAThresholdProgramRuns(t *testing.T) {
	p := start(t, built(t, "keep-last"))
	if _, err := p.Configure(t.Context(), &threshv1.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	var history []sdk.Content
	for i := range 60 {
		history = append(history, words("human", fmt.Sprint(i)))
	}
	_, pieces, err := p.compress(t.Context(), &threshv1.CompressHeader{Call: header("s")}, history)
	if diff := cmp.Diff([]rewrite.Piece{rewrite.Keep{From: 10, To: 60}}, pieces); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	r, _, err := p.compress(t.Context(), &threshv1.CompressHeader{Call: header("s")}, history[:50])
	if err != nil || r.GetNoopReason() != string(sdk.NoOpTailCoversAll) {
		t.Errorf("answer %v, %v", r, err)
	}
	if _, _, err := p.optimize(t.Context(), header("s"), history); err == nil ||
		!strings.Contains(err.Error(), "no Optimize") {
		t.Errorf("Optimize of a threshold strategy: %v", err)
	}
}

func TestAContinuousProgramRuns(t *testing.T) {
	p := start(t, built(t, "forget-thoughts"))
	if _, err := p.Configure(t.Context(), &threshv1.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	history := make([]sdk.Content, 12)
	for i := range history {
		history[i] = sdk.Content{Speaker: sdk.AI,
			Blocks: []sdk.Block{sdk.Thinking{Thought: "hm"}, sdk.Text{Text: "yes"}}}
	}
	_, edits, err := p.optimize(t.Context(), header("s"), history)
	want := []rewrite.Edit{{Index: 0, Blocks: []rewrite.BlockPiece{{Keep: 1}}},
		{Index: 1, Blocks: []rewrite.BlockPiece{{Keep: 1}}}}
	if diff := cmp.Diff(want, edits); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestAnAuthorsBinaryCarriesNoHostParts(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./testdata/programs/keep-last").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if found := regexp.MustCompile(`(?m)^.*(koanf|tiktoken|cobra|thresh/host).*$`).FindString(string(out)); found != "" {
		t.Errorf("it depends on %s", found)
	}
}
