package endpoint_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
)

// grpcCollector takes what is exported, as a collector does.
type grpcCollector struct {
	collector.UnimplementedMetricsServiceServer
	took chan *collector.ExportMetricsServiceRequest
}

func (c grpcCollector) Export(
	_ context.Context, r *collector.ExportMetricsServiceRequest,
) (*collector.ExportMetricsServiceResponse, error) {
	c.took <- r
	return &collector.ExportMetricsServiceResponse{}, nil
}

func (c grpcCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	request := &collector.ExportMetricsServiceRequest{}
	if r.URL.Path != "/v1/metrics" || r.Header.Get("Api-Key") != "k" || proto.Unmarshal(raw, request) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	c.took <- request
}

// What is measured goes to the collector that OpenTelemetry's own variables name, at the latest when the endpoint is
// closed, with the name and attributes that they give the program.
func TestWhatIsMeasuredIsExported(t *testing.T) {
	c := grpcCollector{took: make(chan *collector.ExportMetricsServiceRequest, 1)}
	web := httptest.NewServer(c)
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterMetricsServiceServer(server, c)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=k")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	for protocol, url := range map[string]string{"": web.URL, "http/protobuf": web.URL, "grpc": "http://" + l.Addr().String()} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			e, err := endpoint.New(endpoint.Options{Version: "1.2.3", Getenv: os.Getenv})
			if err != nil {
				t.Fatal(err)
			}
			turns, err := e.Meter().Meter("test").Int64Counter("thresh.turns")
			if err != nil {
				t.Fatal(err)
			}
			turns.Add(t.Context(), 3)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			got := <-c.took
			of := got.ResourceMetrics[0]
			if text := of.Resource.String(); !strings.Contains(text, `"thresh"`) || !strings.Contains(text, `"1.2.3"`) ||
				!strings.Contains(text, `"deployment.environment"`) {
				t.Errorf("the resource: %s", text)
			}
			if m := of.ScopeMetrics[0].Metrics[0]; m.Name != "thresh.turns" || m.GetSum().DataPoints[0].GetAsInt() != 3 {
				t.Errorf("exported: %s", m)
			}
		})
	}
}

// A collector that is away costs nothing but a line in the log; what the variables say wrongly is an error.
func TestCollectorsThatCannotBeUsed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	var logged bytes.Buffer
	e, err := endpoint.New(endpoint.Options{Getenv: os.Getenv, Log: log.New(&logged, "", 0)})
	if err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	if !strings.Contains(logged.String(), "measurements were not exported") {
		t.Errorf("logged: %q", logged.String())
	}
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	if _, err := endpoint.New(endpoint.Options{Getenv: os.Getenv}); err == nil || !strings.Contains(err.Error(), `"http/json"`) {
		t.Errorf("an unknown protocol: %v", err)
	}
	for name, value := range map[string]string{"OTEL_METRICS_EXPORTER": "none", "OTEL_SDK_DISABLED": "true"} {
		t.Setenv(name, value)
		if endpoint.Exported(os.Getenv) {
			t.Errorf("exported with %s=%s", name, value)
		}
		t.Setenv(name, "")
	}
}
