package wire

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The published protocol and the table of kinds agree on every number, name and type.
func TestKindsAreThoseOfTheProtocol(t *testing.T) {
	var published, table []string
	of := (&threshv1.Block{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range of.Len() {
		kind := of.Get(i)
		published = append(published, fmt.Sprintln(kind.Number(), kind.Name(), kind.Kind()))
		for j := 0; kind.Message() != nil && j < kind.Message().Fields().Len(); j++ {
			f := kind.Message().Fields().Get(j)
			published = append(published, fmt.Sprintln(kind.Name(), f.Number(), f.JSONName(), f.Kind()))
		}
	}
	for k := content.KindNumbered(1); k != nil; k = content.KindNumbered(uint64(k.Number + 1)) {
		if k.Type == "" {
			table = append(table, fmt.Sprintln(k.Number, "opaque", protoreflect.BytesKind))
			continue
		}
		table = append(table, fmt.Sprintln(k.Number, k.Type, protoreflect.MessageKind))
		for i, f := range k.Fields {
			kind := map[bool]protoreflect.Kind{true: protoreflect.BytesKind, false: protoreflect.StringKind}[f.JSON()]
			table = append(table, fmt.Sprintln(k.Type, i+1, f.Name, kind))
		}
	}
	if diff := cmp.Diff(published, table); diff != "" {
		t.Errorf("-protocol +table:\n%s", diff)
	}
}
