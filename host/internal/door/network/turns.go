package network

import (
	"context"

	"connectrpc.com/connect"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// Prepare is refused when the money of the day is spent, although not every turn calls a model: which one will is known
// only when the strategy is asked. With unprepared set, an error of the turn comes in the answer with the history as it
// stands, which the agent may send at its own risk.
func (s *sessions) Prepare(ctx context.Context, r *sessionv1.PrepareRequest) (*sessionv1.PrepareResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	if err := s.guard.CheckSpending(ctx, callerOf(ctx).grant); err != nil {
		return nil, err
	}
	answer, err := session.Prepare(ctx, service.PrepareRequest{
		PendingTokens: int(r.GetPendingTokens()), Format: host.Form(r.GetFormat()), Since: r.Since,
	})
	if err != nil && (answer == nil || !r.GetUnprepared()) {
		return nil, err
	}
	// answer is not nil here: either the turn succeeded, or it failed and the caller asked for the history as it is.
	response, wrong := prepared(answer)
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		response.Error = turnError(err)
		// Those who run the service want to see it, although the caller gets an answer.
		callerOf(ctx).outcome = connect.CodeOf(failure(ctx, err)).String()
	}
	return response, nil
}

// PrepareStream is Prepare with an answer in parts. The first part has all fields, the others only more of the list. A
// client puts the lists together.
func (s *sessions) PrepareStream(
	ctx context.Context, r *sessionv1.PrepareRequest, stream *connect.ServerStream[sessionv1.PrepareResponse],
) error {
	first, err := s.Prepare(ctx, r)
	if err != nil {
		return err
	}
	// Of the two lists one is empty, so that there is one part of it.
	history, messages := parts(first.GetHistory()), parts(first.GetMessages())
	first.History, first.Messages = history[0], messages[0]
	if err := stream.Send(first); err != nil {
		return err
	}
	for _, part := range history[1:] {
		if err := stream.Send(&sessionv1.PrepareResponse{History: part}); err != nil {
			return err
		}
	}
	for _, part := range messages[1:] {
		if err := stream.Send(&sessionv1.PrepareResponse{Messages: part}); err != nil {
			return err
		}
	}
	return nil
}

// CompressHistory returns no history: who wants it prepares.
func (s *sessions) CompressHistory(
	ctx context.Context, r *sessionv1.CompressHistoryRequest,
) (*sessionv1.CompressHistoryResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	if err := s.guard.CheckSpending(ctx, callerOf(ctx).grant); err != nil {
		return nil, err
	}
	// No mark: gRPC requests have no order among themselves, so what is there now is compressed.
	answer, err := session.Compress(ctx, service.Moment{})
	if err != nil {
		return nil, err
	}
	return &sessionv1.CompressHistoryResponse{
		Revision: answer.Revision, Tokens: int32of(answer.Tokens), Outcome: outcomeText(answer.Outcome),
	}, nil
}

// Watch sends events until the caller or the server ends. The first message says that the watch has begun. Events that
// the caller does not take in time are dropped and counted in the next one's Missed: a slow watch must not hold up a
// turn.
func (s *sessions) Watch(
	ctx context.Context, r *sessionv1.WatchRequest, stream *connect.ServerStream[sessionv1.WatchResponse],
) error {
	c := callerOf(ctx)
	if err := c.about(r.GetSession()); err != nil {
		return err
	}
	w := s.service.Watch(c.grant.Name, r.GetSession())
	defer w.Close()
	// It goes out at once, so that a caller can wait for it before it does what it wants to see.
	next := &sessionv1.WatchResponse{}
	for {
		if err := stream.Send(next); err != nil {
			return err
		}
		select {
		case e := <-w.Events:
			next = &sessionv1.WatchResponse{
				Session: e.Session, Method: e.Method, Revision: e.Revision, Tokens: int32of(e.Tokens),
				Outcome: outcomeText(e.Outcome), Error: turnError(e.Err), Missed: int32of(e.Missed),
			}
		// Without this a watch would keep the server from ending until drain is over.
		case <-s.ending:
			return errEnding
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
