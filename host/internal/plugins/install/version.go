package install

import (
	"fmt"
	"strings"

	"golang.org/x/mod/semver"
)

// A version is written without a v, as people and files do. What is wanted is one, or ^ and one, which allows what is
// compatible with it: the later ones up to the next first number that is not 0, without previews.

func validVersion(v string) bool { return semver.IsValid("v" + v) }

// older reports whether a is an older version than b.
func older(a, b string) bool { return semver.Compare("v"+a, "v"+b) < 0 }

// exact reports whether one version is wanted.
func exact(wanted string) bool { return wanted != "" && wanted[0] != '^' }

func checkWanted(wanted string) error {
	if !validVersion(strings.TrimPrefix(wanted, "^")) {
		return fmt.Errorf("%q is no version: want one such as 1.2.3, or ^1.2 for that and later ones of 1", wanted)
	}
	return nil
}

// satisfies reports whether a version is wanted; any but a preview is if wanted is "".
func satisfies(version, wanted string) bool {
	v := "v" + version
	if exact(wanted) {
		return semver.Compare(v, "v"+wanted) == 0
	}
	if semver.Prerelease(v) != "" {
		return false
	}
	if wanted == "" {
		return true
	}
	from := "v" + wanted[1:]
	return semver.Compare(v, from) >= 0 && compatible(v) == compatible(from)
}

// compatible returns what compatible versions have in common: the numbers up to the first that is not 0.
func compatible(v string) string {
	numbers := strings.Split(strings.TrimPrefix(semver.Canonical(v), "v"), ".")
	for i, n := range numbers {
		if n != "0" {
			return strings.Join(numbers[:i+1], ".")
		}
	}
	return "0.0.0"
}
