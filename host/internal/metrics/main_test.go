package metrics_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	"github.com/thresh-dev/thresh/internal/testkit/binaries"
)

// pluginDir holds the strategies of the tests.
var pluginDir string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "metrics")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		err = errors.Join(binaries.Strategies(dir, "high-density", "one-shot"),
			binaries.Plugins(dir, map[string]string{"gate": "host/cmd/thresh/testdata/gate"}))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		pluginDir = dir
		if code := m.Run(); code != 0 {
			return code
		}
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left:", err)
			return 1
		}
		return 0
	}())
}

// series are what was collected, as "name{key=value,…} value"; a histogram's value is "count of sum".
type series map[string]bool

// of are the series whose text begins so.
func (s series) of(prefix string) series {
	s = maps.Clone(s)
	maps.DeleteFunc(s, func(text string, _ bool) bool { return !strings.HasPrefix(text, prefix) })
	return s
}

func (s series) String() string { return strings.Join(slices.Sorted(maps.Keys(s)), "\n") }

func collect(t testing.TB, reader sdkmetric.Reader) series {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Error(err)
	}
	got := series{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(set attribute.Set, value any) {
				got[fmt.Sprintf("%s{%s} %v", m.Name, set.Encoded(attribute.DefaultEncoder()), value)] = true
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, fmt.Sprint(p.Count, " of ", p.Sum))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, fmt.Sprint(p.Count, " of ", p.Sum))
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return got
}
