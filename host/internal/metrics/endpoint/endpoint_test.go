package endpoint_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/host/internal/metrics/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) *endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Listen("127.0.0.1:0", endpoint.Options{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// get asks on a connection of its own.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestWhatIsMeasuredIsServed(t *testing.T) {
	e := listen(t)
	c, err := e.Meter().Meter("test").Float64Counter("thresh.llm.cost", metric.WithUnit("{USD}"))
	if err != nil {
		t.Fatal(err)
	}
	c.Add(t.Context(), 1.5)
	c.Add(t.Context(), 0.25)
	status, body := get(t, e.URL())
	if status != http.StatusOK || !strings.Contains(body, "\nthresh_llm_cost_total 1.75\n") ||
		!strings.Contains(body, `target_info{service_name="thresh",service_version="1.2.3"} 1`) {
		t.Errorf("%d\n%s", status, body)
	}
	page, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, e.URL(), nil)
	page.Host = "a.page.example:9464" // which made its name point here
	if r, err := http.DefaultClient.Do(page); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("a web page: %v, %v", r, err)
	}
	http.DefaultClient.CloseIdleConnections()
	if status, _ := get(t, strings.TrimSuffix(e.URL(), endpoint.Path)); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(e.URL(), "http://"),
		endpoint.Path)); err == nil {
		_ = conn.Close()
		t.Error("it is still there after Close")
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	e := listen(t)
	defer e.Close()
	taken := strings.TrimSuffix(strings.TrimPrefix(e.URL(), "http://"), endpoint.Path)
	for address, want := range map[string]string{
		taken:                "address already in use",
		"9464":               "want host:port",
		"127.0.0.1:http-ish": "http-ish",
		"127.0.0.1:99999":    "99999",
	} {
		if e, err := endpoint.Listen(address, endpoint.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", address, e, err)
		}
	}
}

// TestCloseDoesNotWaitForThoseWhoAreSlow, who asked and read nothing, or only half asked.
func TestCloseDoesNotWaitForThoseWhoAreSlow(t *testing.T) {
	e := listen(t)
	for _, request := range []string{"", "GET /metrics HTTP/1.1\r\n"} {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(e.URL(), "http://"), endpoint.Path))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it waits")
	}
}
