package network

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Count needs no session, for an agent that decides what to add. Tokens are the host's own count, without what a
// session has learned from usage reports. Each has a number for every entry, in their order.
func (s *sessions) Count(ctx context.Context, r *sessionv1.CountRequest) (*sessionv1.CountResponse, error) {
	counted, err := s.service.Count(ctx, service.CountRequest{Entries: rawList(r.GetEntries())})
	if err != nil {
		return nil, err
	}
	each := make([]int32, len(counted.Each))
	for i, n := range counted.Each {
		each[i] = int32of(n)
	}
	return &sessionv1.CountResponse{Tokens: int32of(counted.Tokens), Each: each}, nil
}

type plugins struct {
	service *service.Service
	log     hclog.Logger
}

func (p plugins) changed(ctx context.Context, what, name string) {
	p.log.Info(what, "plugin", name, "by", "the local user", "from", callerOf(ctx).from)
}

// ListPlugins is for every caller: an agent chooses a strategy by it. It names files of the host, and no conversation.
// A plugin is JSON text, so that the contract need not repeat its fields.
func (p plugins) ListPlugins(
	ctx context.Context, _ *sessionv1.ListPluginsRequest,
) (*sessionv1.ListPluginsResponse, error) {
	answer := &sessionv1.ListPluginsResponse{}
	found, err := p.service.Plugins(ctx, service.Empty{})
	if err != nil {
		return nil, err
	}
	for _, plugin := range found.Plugins {
		text, err := json.Marshal(plugin)
		if err != nil {
			return nil, err
		}
		answer.Plugins = append(answer.Plugins, string(text))
	}
	return answer, nil
}

// localOnly refuses a token with a name: what follows concerns everyone who uses the host. The name "" is the local
// user's: everyone on a Unix socket, and the owner of the local token.
func localOnly(ctx context.Context) error {
	if callerOf(ctx).grant.Name != "" {
		return errNotLocal
	}
	return nil
}

// ResetPlugin starts a plugin again that crashed too often, for all callers.
func (p plugins) ResetPlugin(
	ctx context.Context, r *sessionv1.ResetPluginRequest,
) (*sessionv1.ResetPluginResponse, error) {
	if err := localOnly(ctx); err != nil {
		return nil, err
	}
	answer, err := p.service.ResetPlugin(service.ResetRequest{Name: r.GetName()})
	if answer.Reset {
		p.changed(ctx, "plugin reset", r.GetName())
	}
	return &sessionv1.ResetPluginResponse{Reset_: answer.Reset}, err
}

// LockPlugins decides which files run. A token that an agent has must not do that.
func (p plugins) LockPlugins(
	ctx context.Context, r *sessionv1.LockPluginsRequest,
) (*sessionv1.LockPluginsResponse, error) {
	if err := localOnly(ctx); err != nil {
		return nil, err
	}
	answer, err := p.service.LockPlugins(ctx, service.LockRequest{Names: r.GetNames()})
	for _, name := range answer.Names { // also with an error about others
		p.changed(ctx, "plugin locked", name)
	}
	return &sessionv1.LockPluginsResponse{Names: answer.Names}, err
}
