package wire

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk/content"
)

// The published protocol and the table of kinds agree on every number, name and type.
func TestKindsAreThoseOfTheProtocol(t *testing.T) {
	block := (&threshv1.Block{}).ProtoReflect().Descriptor()
	of := block.Oneofs().ByName("kind").Fields()
	for i := range of.Len() {
		field := of.Get(i)
		k := content.KindNumbered(uint64(field.Number()))
		switch {
		case k == nil:
			t.Errorf("%s is not in the table", field.Name())
		case k.Type == "":
			if field.Name() != "opaque" || field.Kind() != protoreflect.BytesKind {
				t.Errorf("%s is an opaque block in the table", field.Name())
			}
		case string(field.Name()) != k.Type || field.Message().Fields().Len() != len(k.Fields):
			t.Errorf("%s is %s in the table, with %d fields", field.Name(), k.Type, len(k.Fields))
		default:
			for j, f := range k.Fields {
				want := protoreflect.StringKind
				if f.JSON() {
					want = protoreflect.BytesKind
				}
				if got := field.Message().Fields().Get(j); got.JSONName() != f.Name || got.Kind() != want || int(got.Number()) != j+1 {
					t.Errorf("field %d of %s is %s, a %s, but %s in the table", j+1, k.Type, got.JSONName(), got.Kind(), f.Name)
				}
			}
		}
	}
	if more := content.KindNumbered(uint64(of.Len() + 1)); more != nil {
		t.Errorf("%s is not in the protocol", more.Type)
	}
}
