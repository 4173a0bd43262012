package trust

import "os"

// guard judges no owner and no rights here: an access list that names others is what most directories of Windows have.
// The lock file decides what may run.
type guard struct{}

func newGuard() *guard { return &guard{} }

// Directory returns why nothing in a plugin directory can be trusted; "" if it can.
func (*guard) Directory(dir string) string {
	_, _, problem := within(dir, dir)
	return problem
}

// File returns why a plugin's file cannot be trusted; "" if it can.
func (*guard) File(dir, path string) string {
	_, _, problem := within(dir, path)
	return problem
}

func (*guard) opened(*os.File) string { return "" }

func (*guard) lockFile(string) error { return nil }
