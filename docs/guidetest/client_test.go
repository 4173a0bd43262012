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

// TestTheTypesOfTheClientForTypeScript, with the compiler of the example: they fit the code, an agent that uses it, and
// what must not compile does not.
func TestTheTypesOfTheClientForTypeScript(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	dir := filepath.Join(work, "examples", "strategies", "typescript")
	copySources(t, filepath.Join(examples, "strategies", "typescript"), dir)
	copySources(t, filepath.Join(examples, "service"), filepath.Join(work, "examples", "service"))
	copySources(t, filepath.Join(root, "clients"), filepath.Join(work, "clients"))
	copySources(t, "testdata", dir)
	npm(t, dir, "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund")
	compile := []string{"exec", "--", "tsc", "--noEmit", "--module", "nodenext", "--target", "es2023", "--types", "node"}
	npm(t, dir, append(compile, "--strict", "use.mts")...)
	npm(t, dir, append(compile, "--checkJs", "../../service/agent.mjs")...)
	npm(t, dir, "exec", "--", "node", "members.mjs")
}
