package process

import (
	"testing"
)

func TestWhatIsSuggestedToBeGranted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for program, want := range map[string]string{
		home + "/.nvm/versions/node/v20/bin/node": home + "/.nvm/versions/node/v20",
		home + "/bin/node":                        home + "/bin/node",
		"/opt/bin/node":                           "/opt/bin/node",
		"/opt/node/node":                          "/opt/node/node",
	} {
		if got := surroundings(program); got != want {
			t.Errorf("%s: %s", program, got)
		}
	}
}
