// Package alone makes messages small that come without a session, for programs that embed a host: 'messages.compress' and
// 'messages.retrieve' of a host that is served. It is a package of its own because it links what recognises a
// conversation by its content.
package alone

import (
	"context"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/api"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/door/proxy"
	"github.com/thresh-dev/thresh/host/internal/window"
)

// Messages makes messages small with a host's strategies, and keeps their conversations in its store. It is safe for
// concurrent use. Close it before the host.
type Messages struct{ server *proxy.Server }

var _ api.Alone = (*Messages)(nil)

// New returns the messages of a host.
func New(h *host.Host) *Messages {
	runtime := h.Runtime(window.Key{})
	return &Messages{proxy.New(proxy.Options{Host: runtime, Recall: &proxy.Recall{}, Logger: runtime.Logger()})}
}

// Compress makes a whole conversation small, as the caller holds it and not as an earlier call returned it.
func (m *Messages) Compress(ctx context.Context, r api.CompressMessages) (api.CompressedMessages, error) {
	a, err := m.server.Compress(ctx, access.Grant{}, r)
	if err != nil {
		return api.CompressedMessages{}, host.ErrorOf(err)
	}
	return a, nil
}

// Retrieve returns a removed part while the conversation is kept.
func (m *Messages) Retrieve(ctx context.Context, r api.RetrieveRequest) (api.RetrieveAnswer, error) {
	a, err := m.server.Retrieve(ctx, access.Grant{}, r)
	if err != nil {
		return api.RetrieveAnswer{}, host.ErrorOf(err)
	}
	return a, nil
}

// Close lets go of the conversations; the store keeps them.
func (m *Messages) Close() { m.server.Close() }
