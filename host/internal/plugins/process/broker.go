package process

import (
	"context"
	"errors"

	"google.golang.org/grpc"
)

// go-plugin's broker is a stream on which both sides announce where they listen. The host listens once, and a plugin
// never does, but go-plugin keeps whatever is announced.
const (
	brokerMethod = "/plugin.GRPCBroker/StartStream"
	// maxAnnounced is in messages.
	maxAnnounced = 64
)

// boundBroker ends the broker's stream when a plugin announces more than it can have reason to.
func boundBroker(
	ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil || method != brokerMethod {
		return stream, err
	}
	return &brokerStream{ClientStream: stream}, nil
}

type brokerStream struct {
	grpc.ClientStream
	announced int
}

// RecvMsg counts messages before they are decoded: one beyond the bound takes no memory.
func (s *brokerStream) RecvMsg(m any) error {
	if s.announced++; s.announced > maxAnnounced {
		return errors.New("the plugin announces more connections than it may")
	}
	return s.ClientStream.RecvMsg(m)
}
