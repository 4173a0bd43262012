// Package lazyregexp compiles regular expressions at their first use. Every start of thresh and of a plugin would pay
// for those of all packages otherwise, and uses few of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns what compiles an expression once. It panics at the first use of one that is not valid.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
