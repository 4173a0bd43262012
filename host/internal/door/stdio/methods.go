package stdio

import (
	"fmt"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/door/jsonrpc"
	"github.com/thresh-dev/thresh/host/internal/service"
)

// The methods that need no open session.
const (
	nameOpen   = "session.open"
	nameDelete = "session.delete"
)

// find returns the method with a name. The list is short, so that a map would gain nothing. The error lists all
// methods: an agent's author sees it once.
func find(name string) (service.Method, error) {
	var known []string
	for _, m := range service.Methods() {
		if m.Name == name {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return service.Method{}, &jsonrpc.Error{Code: jsonrpc.CodeUnknownMethod,
		Message: fmt.Sprintf("unknown method %q; want one of: %s", name, strings.Join(known, ", "))}
}
