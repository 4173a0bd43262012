package content_test

import (
	"testing"

	"github.com/thresh-dev/thresh/internal/testkit/hostile"
	"github.com/thresh-dev/thresh/sdk/content"
)

// An entry that an agent or a recording gives may hold anything.
func FuzzGrown(f *testing.F) {
	texts := append(hostile.Some(`{"speaker":"tool","blocks":[{"type":"tool_response","callId":"1","toolName":"n",`+
		`"result":{"a":1.0},"error":{"b":2}},null,{"type":"media","data":"","x":1}],"metadata":{},"x":1}`, 24),
		hostile.JSON...)
	hostile.Fuzz(f, func(text string) {
		var first, second content.Content
		if first.UnmarshalJSON([]byte(text)) != nil {
			content.ParseBlock([]byte(text))
			content.Literals([]byte(text))
			return
		}
		if second.UnmarshalJSON(first.AppendJSON(nil)) != nil || !first.Equal(second) {
			f.Error("changed by writing and reading")
		}
	}, texts...)
}
