package endpoint

import (
	"context"
	"fmt"
	"log"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Exported reports whether the standard variables of OpenTelemetry name a collector that measurements are sent to.
func Exported(getenv func(string) string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_METRICS_EXPORTER") == "none" {
		return false
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") != ""
}

// exporter sends measurements to the collector that the process's environment names. What goes wrong is logged, once
// for each export: OpenTelemetry's own handler of errors writes to standard error, which is an agent's terminal.
type exporter struct {
	sdkmetric.Exporter
	log *log.Logger
}

// newReader makes the reader that exports every minute, or every OTEL_METRIC_EXPORT_INTERVAL milliseconds.
func newReader(o Options) (sdkmetric.Reader, error) {
	protocol := o.Getenv("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL")
	if protocol == "" {
		protocol = o.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	var to sdkmetric.Exporter
	var err error
	switch protocol {
	case "", "http/protobuf":
		to, err = otlpmetrichttp.New(context.Background())
	case "grpc":
		to, err = otlpmetricgrpc.New(context.Background())
	default:
		err = fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; want http/protobuf or grpc", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("export metrics: %w", err)
	}
	return sdkmetric.NewPeriodicReader(exporter{to, o.Log}), nil
}

func (e exporter) Export(ctx context.Context, measured *metricdata.ResourceMetrics) error {
	if err := e.Exporter.Export(ctx, measured); err != nil && e.log != nil {
		e.log.Printf("measurements were not exported: %v", err)
	}
	return nil
}
