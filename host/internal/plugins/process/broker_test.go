package process

import (
	"context"
	"testing"

	"google.golang.org/grpc"
)

// endless is a stream on which messages never end.
type endless struct{ grpc.ClientStream }

func (endless) RecvMsg(any) error { return nil }

// go-plugin would keep all that a plugin announces; other streams have bounds of their own.
func TestAPluginCannotAnnounceWithoutEnd(t *testing.T) {
	for method, want := range map[string]int{brokerMethod: maxAnnounced, "/plugin.GRPCStdio/StreamStdio": 1000} {
		stream, err := boundBroker(t.Context(), nil, nil, method, func(
			context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return endless{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		received := 0
		for received < 1000 && stream.RecvMsg(nil) == nil {
			received++
		}
		if received != want {
			t.Errorf("%s: %d messages were received, want %d", method, received, want)
		}
	}
}
