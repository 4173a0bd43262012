package guidetest

import (
	"path/filepath"
	"testing"
)

// TestOthersCanReadTheOpenAPI document, by a validator of theirs.
func TestOthersCanReadTheOpenAPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	copySources(t, filepath.Join("testdata", "openapi"), dir)
	npm(t, dir, "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	document, err := filepath.Abs(filepath.Join(root, "host", "internal", "service", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	npm(t, dir, "exec", "--", "node", "validate.mjs", document)
}

// TestTheTypesOfTheClientForTypeScript, with the compiler of a strategy: they fit the code, an agent that uses it, and
// what must not compile does not.
func TestTheTypesOfTheClientForTypeScript(t *testing.T) {
	t.Parallel()
	p, _ := begin(t, "compiler", "typescript")
	dir := p.path("work", "compiler")
	copySources(t, filepath.Join(examples, "service"), p.path("work", "examples", "service"))
	copySources(t, filepath.Join(root, "clients"), p.path("work", "clients"))
	copySources(t, "testdata", dir)
	install(t, dir)
	compile := []string{"exec", "--", "tsc", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node"}
	npm(t, dir, append(compile, "--strict", "use.mts")...)
	npm(t, dir, append(compile, "--checkJs", "../examples/service/agent.mjs")...)
	npm(t, dir, "exec", "--", "node", "members.mjs")
}
