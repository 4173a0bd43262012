package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/thresh-dev/thresh/sdk"
	"log/slog"
	"math"
	"sync/atomic"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	threshv1 "github.com/thresh-dev/thresh/proto/thresh/v1"

	"github.com/thresh-dev/thresh/internal/wire"
)

// service serves a strategy over gRPC. Calls for several sessions run concurrently; a second call of one session finds
// no mirror and asks for the whole history. Handlers return plain errors, which serverOptions converts to statuses.
type service struct {
	threshv1.UnimplementedStrategyServiceServer

	// Set once, before the server starts.
	strategy sdk.Strategy
	info     *threshv1.GetInfoResponse
	log      *slog.Logger
	setLevel func(slog.Level)
	broker   *plugin.GRPCBroker
	replace  func() // makes the host start another process; nil for one that was started by hand
	// nil before Configure.
	configured atomic.Pointer[configuration]
	taxonomies taxonomies
	mirrors    mirrors
}

type configuration struct {
	config sdk.Config
	host   *hostConn
}

// GetInfo answers from memory: the declaration must not change while the process lives.
func (s *service) GetInfo(context.Context, *threshv1.GetInfoRequest) (*threshv1.GetInfoResponse, error) {
	return s.info, nil
}

// Configure takes the settings, once, and connects to the host's services. Refused settings leave the process as it
// was: the host can report them.
func (s *service) Configure(_ context.Context, r *threshv1.ConfigureRequest) (*threshv1.ConfigureResponse, error) {
	conf := wire.FromConfigure(r)
	if err := s.checkConfig(conf.Config); err != nil {
		return nil, err
	}
	c := &configuration{config: conf.Config, host: newHostConn(s.broker, conf.HostServiceID, s.replace)}
	if !s.configured.CompareAndSwap(nil, c) {
		return nil, status.Error(codes.FailedPrecondition, "Configure was called before")
	}
	s.setLevel(levelOf(conf.LogLevel))
	if s.info.GetFeatures().GetHistoryDelta() {
		limit := uint64(wire.DefaultMirrorBytes)
		if conf.MirrorBytes != nil {
			limit = *conf.MirrorBytes
		}
		s.mirrors.setLimit(int(min(limit, math.MaxInt)))
	}
	c.host.connect()
	return &threshv1.ConfigureResponse{}, nil
}

// checkConfig refuses settings that are no JSON object, and those that the strategy refuses. INVALID_ARGUMENT tells the
// host that the user must change a setting.
func (s *service) checkConfig(config sdk.Config) error {
	if len(config) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(config, &object); err != nil {
			return status.Error(codes.InvalidArgument, fmt.Sprintf("the config is not a JSON object: %v", err))
		}
	}
	if checker, ok := s.strategy.(sdk.ConfigChecker); ok {
		if err := checker.CheckConfig(config); err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
	return nil
}

// call builds what a strategy sees from a header and the mirror. history is the mirror's or a copy, as the call needs
// it.
func (s *service) call(h wire.Call, c *configuration, m *mirror, history []sdk.Content) (sdk.Call, error) {
	if !bytes.Equal(h.Config, c.config) { // a session may have settings of its own
		if err := s.checkConfig(h.Config); err != nil {
			return sdk.Call{}, err
		}
	}
	if !h.SameTools {
		var err error
		if m.tools, err = s.taxonomies.get(h.Tools); err != nil {
			return sdk.Call{}, status.Error(codes.InvalidArgument, fmt.Sprintf("CallHeader.tools: %v", err))
		}
	}
	return sdk.Call{
		CallParams: h.CallParams,
		History:    history,
		Tools:      m.tools,
		Log:        s.log.With("session", h.SessionID, "call", h.ID),
	}, nil
}

// holds returns the function that tells whether this process holds what a request builds on. It puts the session's
// mirror into m. One that does not fit is dropped with the call.
func (s *service) holds(m **mirror) func(wire.Call) bool {
	return func(c wire.Call) bool {
		*m = s.mirrors.take(c.SessionID)
		return *m != nil && (*m).fits(c)
	}
}

func (s *service) updated(m *mirror, c wire.Call, up *wire.Update) (*mirror, error) {
	if c.Held == 0 {
		s.mirrors.take(c.SessionID) // dropped now: there are never two in memory
		m = newMirror(c.SessionID)
	}
	return m, m.apply(up)
}

// EndSession drops what is held of a session, which this process may never have seen.
func (s *service) EndSession(_ context.Context, r *threshv1.EndSessionRequest) (*threshv1.EndSessionResponse, error) {
	s.mirrors.take(r.GetSessionId())
	return &threshv1.EndSessionResponse{}, nil
}

func (s *service) ready() (*configuration, error) {
	if c := s.configured.Load(); c != nil {
		return c, nil
	}
	return nil, status.Error(codes.FailedPrecondition, "called before Configure")
}
