package serve

import (
	"errors"
	"fmt"
	"sync"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/thresh-dev/thresh/internal/wire"
	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"
	"github.com/thresh-dev/thresh/sdk"
)

// hostConn is the process's only connection to the host's services. client and err may be read once ready is closed.
type hostConn struct {
	broker *plugin.GRPCBroker
	id     uint32

	once  sync.Once
	ready chan struct{} // closed when client or err is set

	client threshv1.HostServiceClient
	err    error

	// lost is called when a call needs the connection and there will be none; nil for a process that was started by
	// hand.
	lost     func()
	lostOnce sync.Once
}

// newHostConn prepares the connection to the service with the given id; 0 means that the host offers none.
func newHostConn(broker *plugin.GRPCBroker, id uint32, lost func()) *hostConn {
	return &hostConn{broker: broker, id: id, ready: make(chan struct{}), lost: lost}
}

// failed returns why there is no connection, once it is ready. A machine under load may have missed the one moment for
// it: this process can then serve no call that needs the host, and its successor can.
func (h *hostConn) failed() error {
	if errors.Is(h.err, sdk.ErrUnavailable) && h.lost != nil {
		h.lostOnce.Do(h.lost)
	}
	return h.err
}

// connect dials in the background, before the first use: the broker drops an address that was not dialled within five
// seconds, and gives it out only once.
func (h *hostConn) connect() {
	h.once.Do(func() {
		if h.id == 0 {
			h.err = fmt.Errorf("%w: this host offers no services", sdk.ErrNotGranted)
			close(h.ready)
			return
		}
		go func() {
			defer close(h.ready)
			conn, err := h.broker.DialWithOptions(h.id,
				grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxGRPCMessage)))
			if err != nil {
				h.err = fmt.Errorf("connecting to the host's services: %w: %w", sdk.ErrUnavailable, err)
				return
			}
			h.client = threshv1.NewHostServiceClient(conn) // open as long as the process lives
		}()
	})
}
