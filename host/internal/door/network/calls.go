package network

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/thresh-dev/thresh/host"
	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/host/internal/service"
	"github.com/thresh-dev/thresh/host/internal/store"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// sessions serves SessionService. Its methods are in calls.go and turns.go. Each looks its session up under the
// caller's name, so that the id of another caller's session is the same error as an id that does not exist. Errors
// become statuses in [noting].
type sessions struct {
	service *service.Service
	guard   *access.Guard
	store   store.Sessions
	// most is the host's bound on the size of a request, in bytes; a token may have a lower one.
	most int
	// ending is closed when the server ends. Watches end with it.
	ending <-chan struct{}
}

// find returns the session of a request, which must be the caller's. The id goes into the log line also if there is no
// such session.
func (s *sessions) find(ctx context.Context, id string) (*service.Session, error) {
	c := callerOf(ctx)
	if err := c.about(id); err != nil {
		return nil, err
	}
	return s.service.Find(ctx, c.grant.Name, id)
}

// Describe says what the caller may, so that it need not find out by being refused. RequestBytes is the lower of the
// host's bound and the token's.
func (s *sessions) Describe(ctx context.Context, _ *sessionv1.DescribeRequest) (*sessionv1.DescribeResponse, error) {
	info, of := s.service.Info(), callerOf(ctx).grant
	most := s.most
	if own := of.Limits.RequestBytes; own > 0 {
		most = min(most, own)
	}
	return &sessionv1.DescribeResponse{
		Name: info.Name, Version: info.Version, Strategies: info.Strategies, RequestBytes: int32of(most),
		Owner: of.Name,
	}, nil
}

// Open goes on with a session that is open or kept: a client that lost its connection cannot know whether it was
// closed, so that a session which is there is no error. Unlike Add it does not check the size of the store: a session
// without entries takes next to none.
func (s *sessions) Open(ctx context.Context, r *sessionv1.OpenRequest) (*sessionv1.OpenResponse, error) {
	c := callerOf(ctx)
	if err := c.about(r.GetSession()); err != nil {
		return nil, err
	}
	system, err := systemOf(r.GetSystem())
	if err != nil {
		return nil, err
	}
	request := service.OpenRequest{
		Owner: c.grant.Name, ID: r.GetSession(), Settings: make(map[string]any, len(r.GetSettings())), System: system,
	}
	for key, value := range r.GetSettings() {
		request.Settings[key] = value
	}
	// One that is open already costs nothing more.
	if _, err := s.service.Find(ctx, c.grant.Name, c.session); err != nil {
		if host.ErrorOf(err).Kind == host.KindStore { // which is not asked once more
			return nil, err
		}
		open := len(s.service.Attached(c.grant.Name))
		// Two requests at the same time may both pass and exceed the limit by one: it protects memory and need not be
		// exact.
		if err := s.guard.CheckSessions(ctx, c.grant, open); err != nil {
			return nil, err
		}
	}
	session, err := s.service.Attach(ctx, request)
	if err != nil {
		return nil, err
	}
	// The host made the id if the request had none.
	c.session = session.ID()
	size, err := session.Size(nil)
	if err != nil {
		return nil, err
	}
	return &sessionv1.OpenResponse{
		Session: c.session, Revision: size.Revision, Tokens: int32of(size.Tokens), Entries: int32of(size.Entries),
	}, nil
}

// Get returns no entries, so that it is cheap however long the history is. A session that is stored but not open is
// loaded for it.
func (s *sessions) Get(ctx context.Context, r *sessionv1.GetRequest) (*sessionv1.GetResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	state, err := session.State(ctx, service.Moment{})
	if err != nil {
		return nil, err
	}
	return &sessionv1.GetResponse{
		Session: state.Session, Revision: state.Revision, Tokens: int32of(state.Tokens),
		Entries: int32of(state.Entries),
		System:  string(service.List(state.System)), SystemTokens: int32of(state.SystemTokens),
	}, nil
}

// defaultPage is how many sessions a list has, unless the request says. There is no upper bound: a session in a list
// takes some hundred bytes.
const defaultPage = 100

// List returns what is in the store and, where nothing is stored, what is open. Both have the order of ids, so that the
// last id of a page is where the next one begins. Where a session is in both, the store's has more to say.
func (s *sessions) List(ctx context.Context, r *sessionv1.ListRequest) (*sessionv1.ListResponse, error) {
	limit := int(r.GetLimit())
	if limit <= 0 {
		limit = defaultPage
	}
	owner := callerOf(ctx).grant.Name
	if err := (store.Key{ID: r.GetAfter()}).Check(); err != nil {
		return nil, err
	}
	found, last := map[string]*sessionv1.SessionInfo{}, ""
	// One more than the page, to know whether there are more.
	filter := store.Filter{Owner: owner, After: store.Key{Owner: owner, ID: r.GetAfter()}, Limit: limit + 1}
	for head, err := range s.store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		last = head.ID
		found[head.ID] = &sessionv1.SessionInfo{
			Session: head.ID, Entries: int32of(head.Entries), Tokens: int32of(head.Tokens), Bytes: head.Bytes,
			Created: timestamppb.New(head.Created), Used: timestamppb.New(head.Used),
		}
	}
	beyond := len(found) > limit // what comes after last is of the next page
	for _, session := range s.service.Attached(owner) {
		id := session.ID()
		if id <= r.GetAfter() || found[id] != nil || beyond && id > last {
			continue
		}
		size, err := session.Size(nil)
		if err != nil {
			return nil, err
		}
		found[id] = &sessionv1.SessionInfo{Session: id, Entries: int32of(size.Entries), Tokens: int32of(size.Tokens)}
	}
	answer := &sessionv1.ListResponse{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if len(answer.GetSessions()) == limit {
			answer.More = true
			break
		}
		answer.Sessions = append(answer.Sessions, found[id])
	}
	return answer, nil
}

// Close looks for the session first: the error for one that does not exist is that of every method. Closing keeps what
// is stored.
func (s *sessions) Close(ctx context.Context, r *sessionv1.CloseRequest) (*sessionv1.CloseResponse, error) {
	if _, err := s.find(ctx, r.GetSession()); err != nil {
		return nil, err
	}
	return &sessionv1.CloseResponse{}, s.service.Detach(callerOf(ctx).grant.Name, r.GetSession())
}

// Delete does not load the session: it may be one that can no longer be read.
func (s *sessions) Delete(ctx context.Context, r *sessionv1.DeleteRequest) (*sessionv1.DeleteResponse, error) {
	c := callerOf(ctx)
	if err := c.about(r.GetSession()); err != nil {
		return nil, err
	}
	return &sessionv1.DeleteResponse{}, s.service.Delete(ctx, c.grant.Name, r.GetSession())
}

// Add checks the size of the store before, not after, so that a store may grow over the limit by one request.
func (s *sessions) Add(ctx context.Context, r *sessionv1.AddRequest) (*sessionv1.AddResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	if err := s.guard.CheckStore(ctx, callerOf(ctx).grant); err != nil {
		return nil, err
	}
	system, err := systemOf(r.GetSystem())
	if err != nil {
		return nil, err
	}
	state, err := session.Add(ctx, service.AddRequest{
		Entries: rawList(r.GetEntries()), Opaque: r.GetOpaque(), Format: host.Form(r.GetFormat()),
		Messages: rawList(r.GetMessages()), System: system, Key: r.GetKey(),
	})
	if err != nil {
		return nil, err
	}
	return &sessionv1.AddResponse{Revision: state.Revision, Tokens: int32of(state.Tokens)}, nil
}

// Set takes values as text, as flags and variables do: protobuf has no type for any value that keeps numbers exact. A
// wrong key or value is an error of the kind setting, and changes nothing.
func (s *sessions) Set(ctx context.Context, r *sessionv1.SetRequest) (*sessionv1.SetResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	request := service.SetRequest{Key: r.GetKey()}
	if r.Value != nil { // absent removes the override
		request.Value = r.GetValue()
	}
	_, err = session.Set(ctx, request)
	return &sessionv1.SetResponse{}, err
}

// SetSystem removes the prompt if the request has none, where Open and Add leave it as it is.
func (s *sessions) SetSystem(
	ctx context.Context, r *sessionv1.SetSystemRequest,
) (*sessionv1.SetSystemResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	system, err := systemOf(r.GetSystem())
	if err != nil {
		return nil, err
	}
	answer, err := session.SetSystem(ctx, service.SystemRequest{System: system})
	return &sessionv1.SetSystemResponse{Tokens: int32of(answer.Tokens)}, err
}

// SetTodos replaces the whole list. There is no way to change a single task.
func (s *sessions) SetTodos(ctx context.Context, r *sessionv1.SetTodosRequest) (*sessionv1.SetTodosResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	_, err = session.SetTodos(ctx, service.TodosRequest{Todos: todosOf(r.GetTodos())})
	return &sessionv1.SetTodosResponse{}, err
}

// ReportUsage belongs to the last Prepare that was answered. A caller that has several in progress cannot say to which.
// The tokens are the provider's count of the whole prompt, cached parts included; from them the session learns how far
// its own count is off.
func (s *sessions) ReportUsage(
	ctx context.Context, r *sessionv1.ReportUsageRequest,
) (*sessionv1.ReportUsageResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	_, err = session.ReportUsage(ctx, service.UsageRequest{PromptTokens: int(r.GetPromptTokens())})
	return &sessionv1.ReportUsageResponse{}, err
}

// GetHistory takes the history as it is now. Entries are never changed, so that what is added while parts are sent does
// no harm. An empty history is one message without entries, because the revision and the tokens come with the first.
func (s *sessions) GetHistory(
	ctx context.Context, r *sessionv1.GetHistoryRequest, stream *connect.ServerStream[sessionv1.GetHistoryResponse],
) error {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return err
	}
	h, err := session.History(ctx, service.Moment{})
	if err != nil {
		return err
	}
	all, err := entryTexts(h.History)
	if err != nil {
		return err
	}
	for i, part := range parts(all) {
		answer := &sessionv1.GetHistoryResponse{History: part}
		if i == 0 {
			answer.Revision, answer.Tokens = h.Revision, int32of(h.Tokens)
		}
		// A handler of HTTP/1.1 may write into a connection that is gone; the context tells it earlier.
		if err := errors.Join(ctx.Err(), stream.Send(answer)); err != nil {
			return err
		}
	}
	return nil
}

// Explain sends what it finds in parts, as GetHistory does; without changes there is one empty part.
func (s *sessions) Explain(
	ctx context.Context, r *sessionv1.ExplainRequest, stream *connect.ServerStream[sessionv1.ExplainResponse],
) error {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return err
	}
	explained, err := session.Explain(ctx, service.ExplainRequest{ID: r.GetId()})
	if err != nil {
		return err
	}
	// Changes travel as JSON text, as entries do: the contract need not repeat the fields of an outcome.
	all := make([]string, len(explained.Changes))
	for i, c := range explained.Changes {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		all[i] = string(text)
	}
	for _, part := range parts(all) {
		if err := stream.Send(&sessionv1.ExplainResponse{Changes: part}); err != nil {
			return err
		}
	}
	return nil
}

// GetRecorded may be called at any time: what was recorded never changes.
func (s *sessions) GetRecorded(
	ctx context.Context, r *sessionv1.GetRecordedRequest,
) (*sessionv1.GetRecordedResponse, error) {
	session, err := s.find(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	recorded, err := session.Recorded(ctx, service.RecordedRequest{ID: r.GetId()})
	if err != nil {
		return nil, err
	}
	entries, err := entryTexts(recorded.Entries)
	return &sessionv1.GetRecordedResponse{Entries: entries}, err
}
