package network

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/thresh-dev/thresh/host/internal/access"
	"github.com/thresh-dev/thresh/proto/thresh/v1/sessionv1"
)

// post makes a request of plain HTTP and returns its status.
func (s *served) post(path, token, body string, header map[string]string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := s.conns.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// TestTheLogHasALinePerRequestAndNoContent, whether it is answered or refused, and wherever it is refused.
func TestTheLogHasALinePerRequestAndNoContent(t *testing.T) {
	t.Parallel()
	s, ctx := loopback(t), t.Context()
	token := s.token("alice", access.Limits{Requests: 1, RequestBytes: 1000})
	c, asGRPC := s.client(token), s.client(token, connect.WithGRPC())
	if _, err := c.Open(ctx, &sessionv1.OpenRequest{Session: "s1"}); err != nil {
		t.Fatal(err)
	}
	_, _ = c.Add(ctx, &sessionv1.AddRequest{Session: "s1", Entries: []string{human}})
	_, _ = asGRPC.Add(ctx, &sessionv1.AddRequest{Session: "s1", Entries: []string{`{"speaker":"SECRET"}`}})
	_, _ = asGRPC.Add(ctx, &sessionv1.AddRequest{Session: "s1", Entries: []string{strings.Repeat("SECRET", 1000)}})
	_, _ = s.client("SECRET").Open(ctx, &sessionv1.OpenRequest{Session: "s1"})
	_, _ = c.Prepare(ctx, &sessionv1.PrepareRequest{Session: "s1", Unprepared: true}) // there is no strategy
	s.post("/thresh.v1.SessionService/Open", token, `{"SECRET":1}`, nil)
	s.post("/thresh.v1.SessionService/Open", token, `{}`, map[string]string{"Origin": "http://SECRET.example"})
	s.post("/thresh.v1.SessionService/None%0aouch", token, `{}`, nil)
	s.post("/t/SECRET/mcp", token, `{}`, nil) // where the proxy takes a token
	s.post("/t/SECRET/thresh.v1.SessionService/Open", "", `{}`, nil)
	s.post("/thresh.v1.SessionService/Add", token, `{"session":"`+strings.Repeat("s", 1<<20)+`"}`, nil)
	if watch, err := c.Watch(ctx, &sessionv1.WatchRequest{Session: "s1"}); err != nil || !watch.Receive() {
		t.Fatal(err, watch.Err())
	}
	_, _ = c.Get(ctx, &sessionv1.GetRequest{Session: "s1"}) // one too many at a time
	s.stop()
	if strings.Contains(s.log.String(), "SECRET") {
		t.Errorf("content in the log:\n%s", s.log)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(s.log.String()), "\n") {
		var l struct {
			Method, Outcome, Session, Owner string
			Ms                              *float64
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Ms == nil {
			t.Fatalf("%s: %v", line, err)
		}
		method := strings.TrimPrefix(l.Method, "/thresh.v1.SessionService/")
		got = append(got, strings.Join([]string{method, l.Session, l.Owner, l.Outcome}, " "))
	}
	want := []string{
		"Open s1 alice ok", "Add s1 alice ok", "Add s1 alice invalid_argument",
		"Add  alice resource_exhausted", "Open   unauthenticated", "Prepare s1 alice failed_precondition",
		"Open  alice http 400", "Open   permission_denied",
		"None%0aouch  alice http 404", "(nothing is served there)" + "  alice http 404", "(nothing is served there)" + "   unauthenticated",
		"Add  alice resource_exhausted", "Get  alice resource_exhausted", "Watch s1 alice unavailable",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := loopback(t)
	for path, want := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/metrics": http.StatusUnauthorized,
	} {
		r, err := (&http.Client{Transport: s.conns}).Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	c := grpc_health_v1.NewHealthClient(s.dial())
	for _, name := range []string{"", names[0]} {
		answer, err := c.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		if answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", name, answer, err)
		}
	}
}

// dial connects as the programs of others do, which have gRPC's own library.
func (s *served) dial() *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(s.url, "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestReflection is what grpcurl does before it calls a method without having the .proto files.
func TestReflection(t *testing.T) {
	t.Parallel()
	s := loopback(t)
	c := grpc_reflection_v1.NewServerReflectionClient(s.dial())
	ask := func(ctx context.Context, r *grpc_reflection_v1.ServerReflectionRequest,
	) (*grpc_reflection_v1.ServerReflectionResponse, error) {
		stream, err := c.ServerReflectionInfo(ctx)
		if err != nil {
			return nil, err
		}
		if err := stream.Send(r); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		_ = stream.CloseSend()
		return stream.Recv()
	}
	list := &grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	}
	if answer, err := ask(t.Context(), list); err == nil {
		t.Errorf("without a token: %v", answer)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+localToken)
	answer, err := ask(ctx, list)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		got = append(got, service.GetName())
	}
	slices.Sort(got)
	want := []string{"grpc.health.v1.Health", "thresh.v1.PluginService", "thresh.v1.SessionService"}
	if !slices.Equal(got, want) {
		t.Errorf("services %q", got)
	}
	answer, err = ask(ctx, &grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "thresh.v1.SessionService.Prepare"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var file descriptorpb.FileDescriptorProto
	for _, raw := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		if err := proto.Unmarshal(raw, &file); err == nil && len(file.GetService()) > 0 {
			return
		}
	}
	t.Errorf("the method is described by %v", answer)
}
