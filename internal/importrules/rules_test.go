package importrules

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/repo"
)

const module = "github.com/thresh-dev/thresh"

// rule says what the packages of a room must not import. Patterns name packages of the module by their directory,
// others by their import path; "x/..." is x and everything below it.
type rule struct {
	room   []string // the packages that the rule is about
	except []string // packages of the room that it is not about
	never  []string // what they must not import
	allow  []string // exceptions to never
	// deep forbids indirect imports as well: what the package links, not only what it names.
	deep   bool
	reason string
}

const (
	generated = "proto/thresh/v1"
	goPlugin  = "github.com/hashicorp/go-plugin/..."
	grpc      = "google.golang.org/grpc/..."
	protobuf  = "google.golang.org/protobuf/..."
)

var rules = []rule{
	{
		room:   []string{"..."},
		except: []string{"internal/wire", "sdk/serve", "host/internal/plugins/client"},
		never:  []string{generated},
		reason: "internal/wire converts to and from protobuf; others only register services, without logic",
	},
	{
		room:   []string{"..."},
		except: []string{"internal/testkit/...", "examples/llm-server"},
		never:  []string{"internal/testkit/..."},
		deep:   true,
		reason: "what only tests need is linked into nothing that people run or import",
	},
	{
		room:   []string{"host/early"},
		never:  []string{"std/crypto/rand", "std/math/big", "github.com/pkoukk/...", "github.com/dlclark/..."},
		deep:   true,
		reason: "the packages whose paths are before math/big, such as protobuf's, would be initialised in each launcher",
	},
	{
		room:   []string{"host/client", "host/api"},
		never:  []string{"host", "host/config", "host/internal/..."},
		deep:   true,
		reason: "an agent that calls a host does not link one",
	},
	{
		room: []string{"host/internal/history", "host/internal/prepare", "host/internal/tokens",
			"host/internal/pricing", "host/internal/prompts", "host/internal/todos", "host/internal/search",
			"host/internal/keep"},
		never: []string{goPlugin, grpc, protobuf},
		deep:  true,
		reason: "the domain does not know what a process is: it owns its port, prepare.Strategy, and plugins " +
			"implements it",
	},
	{
		room: []string{"sdk", "sdk/content/...", "sdk/turns", "sdk/tools", "sdk/marks"},
		never: []string{"internal/...", "host/...", "sdk/serve", "sdk/prune", "sdk/sdktest", "sdk/summary", goPlugin, grpc,
			protobuf},
		allow:  []string{"internal/text", "internal/lazyregexp"},
		deep:   true,
		reason: "these packages are the model, which every other room stands on",
	},
	{
		room:   []string{"internal/text", "internal/rewrite", "internal/check", "internal/wire", "internal/conform/..."},
		never:  []string{"sdk/serve", "sdk/prune", "sdk/summary", "sdk/sdktest", "host/..."},
		deep:   true,
		reason: "host and sdk share these packages: they stand on the model alone",
	},
	{
		room: []string{"sdk/serve", "sdk/prune", "sdk/summary", "plugins/..."},
		never: []string{"host/...", "github.com/pkoukk/...", "github.com/knadh/...", "github.com/spf13/...",
			"github.com/agext/..."},
		deep: true,
		reason: "an author's binary holds no tokenizer, no configuration library, no provider client and nothing of " +
			"the host",
	},
	{
		room:   []string{"plugins/..."},
		never:  []string{"internal/...", "host/..."},
		reason: "a strategy that ships uses what every author can use: the public sdk",
	},
	{
		room:   []string{"..."},
		except: []string{"host/internal/builtin", "plugins/cmd/..."},
		never:  []string{"plugins/..."},
		reason: "a strategy that ships is a process to the host, as a stranger's is: only what becomes that process links it",
	},
	{
		room:   []string{"host", "host/config", "host/internal/..."},
		except: []string{"host/internal/lab/..."},
		never:  []string{"host/internal/lab/..."},
		reason: "the runtime does not depend on the lab",
	},
	{
		room:   []string{"host", "host/internal/service", "host/internal/door/..."},
		never:  []string{"host/internal/lab/..."},
		deep:   true,
		reason: "who embeds or serves a host links the messages of three APIs, not the recordings of many agents",
	},
	{
		room: []string{"host/internal/..."},
		except: []string{"host/internal/service", "host/internal/door/...", "host/internal/lab/...",
			"host/internal/soaktest"},
		never: []string{"host", "host/internal/service", "host/internal/door/...", "host/internal/window"},
		reason: "window puts the rooms of the runtime together; host, service and the doors stand on window; no room " +
			"knows who uses it",
	},
	{
		room:  []string{"host/internal/provider/..."},
		never: []string{"host/..."},
		allow: []string{"host/internal/provider/..."},
		deep:  true,
		reason: "what a model API looks like depends on nothing that uses it; the server of the tests judges it, and " +
			"shares no line with it",
	},
	{
		room:   []string{"internal/testkit/modelapi"},
		never:  []string{"host/internal/provider/..."},
		deep:   true,
		reason: "the judge of the tests knows the model APIs by itself",
	},
	{
		room:   []string{"host/internal/store/..."},
		never:  []string{"host/...", "sdk/...", "internal/..."},
		allow:  []string{"host/internal/store/...", "internal/atomicfile", "internal/failure"},
		deep:   true,
		reason: "records are bytes to a store; what is in them, the journal knows",
	},
	{
		room: []string{"host/internal/service", "host/internal/door/..."},
		never: []string{"host/internal/lab/...", "host/internal/plugins/...", "host/internal/prepare",
			"host/internal/history"},
		reason: "service is built on the API of package host, and a door translates between a protocol and service; " +
			"what they cannot do with that, an embedder cannot either",
	},
	{
		room:   []string{"host/internal/service"},
		never:  []string{"host/internal/door/...", generated, grpc, protobuf},
		reason: "methods are the same for every door: service knows no protocol",
	},
	{
		room:   []string{"..."},
		except: []string{"host/cmd/..."},
		never:  []string{"host/cmd/..."},
		reason: "the command line is the outermost layer",
	},
	{
		room:   []string{"adapters/..."},
		never:  []string{"host/...", "sdk/...", "internal/..."},
		allow:  []string{"host", "host/api", "host/config", "sdk/content"},
		reason: "an adapter is what an embedder can write",
	},
	{
		room:   []string{"examples/..."},
		except: []string{"examples/llm-server"},
		never:  []string{"host/internal/...", "internal/..."},
		reason: "the examples are what anybody can write",
	},
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, r := range rules {
		checked := 0
		for _, p := range packages {
			dir := directory(p.ImportPath)
			if !matchesAny(r.room, dir) || matchesAny(r.except, dir) {
				continue
			}
			checked++
			imports := p.Imports
			if r.deep {
				imports = p.Deps
			}
			for _, i := range imports {
				if d := directory(i); matchesAny(r.never, d) && !matchesAny(r.allow, d) {
					t.Errorf("%s imports %s: %s", dir, d, r.reason)
				}
			}
		}
		if checked == 0 {
			t.Errorf("the rule %q is about no package: is %q renamed?", r.reason, r.room)
		}
	}
}

// What can be imported from outside is what embedders and authors need, and nothing else.
func TestPublicPackages(t *testing.T) {
	want := []string{
		"host", "host/alone", "host/api", "host/client", "host/config", "host/early", "host/outcome",
		"plugins/distill", "plugins/highdensity", "plugins/middleout", "plugins/oneshot", "plugins/topdown",
		"proto/thresh/v1",
		"sdk", "sdk/content", "sdk/content/rawjson", "sdk/marks", "sdk/prune", "sdk/sdktest", "sdk/serve", "sdk/summary",
		"sdk/tools", "sdk/turns",
	}
	var got []string
	for _, p := range list(t) {
		dir := directory(p.ImportPath)
		if p.Name != "main" && !slices.Contains(strings.Split(dir, "/"), "internal") && len(p.GoFiles) > 0 {
			got = append(got, dir)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("packages that anyone can import:\n got %q\nwant %q", got, want)
	}
}

// A program that embeds the host links what it leaves out by tags no more, and says so where that is asked for.
func TestTagsLeaveOut(t *testing.T) {
	const tags = "thresh_no_sqlite,thresh_no_postgres,thresh_o200k"
	for _, args := range [][]string{
		{"list", "-tags", tags, "-deps", "./host"},
		{"test", "-tags", tags, "-vet=off", "-ldflags=-s -w", "-v", "-run", "^TestWithout",
			"./host/internal/store/backends", "./host/internal/tokens"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = repo.Path(t)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("go %q: %v\n%s", args, err, out)
		}
		if args[0] == "list" && (strings.Contains(string(out), "modernc.org") || strings.Contains(string(out), "/pgx/")) {
			t.Error("the host links a database")
		}
		if n := strings.Count(string(out), "--- PASS: TestWithout"); args[0] == "test" && n != 2 {
			t.Errorf("%d tests of what is left out ran, want 2:\n%s", n, out)
		}
	}
}

type listed struct {
	ImportPath, Name string
	GoFiles          []string
	Imports, Deps    []string
}

func list(t *testing.T) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,GoFiles,Imports,Deps", "./...")
	cmd.Dir = repo.Path(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// directory is a package's directory in the module, the import path of a package that comes from elsewhere, and std/…
// for the standard library, which has directories named as ours are.
func directory(importPath string) string {
	if dir, ours := strings.CutPrefix(importPath, module+"/"); ours {
		return dir
	}
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") {
		return "std/" + importPath
	}
	return importPath
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, tree := strings.CutSuffix(pattern, "...")
		if !tree {
			return dir == pattern
		}
		if above == "" { // all packages of this module
			return !strings.Contains(strings.SplitN(dir, "/", 2)[0], ".")
		}
		return strings.HasPrefix(dir+"/", above)
	})
}
