package window

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"

	"github.com/thresh-dev/thresh/host/config"
)

// DefaultLogger logs to a stream as the settings say, plugins' logs included.
func DefaultLogger(w io.Writer, set config.Log) hclog.Logger { return FilteredLogger(w, set, nil) }

// FilteredLogger is [DefaultLogger] without the lines for which exclude is true; nil excludes none.
func FilteredLogger(
	w io.Writer, set config.Log, exclude func(level hclog.Level, msg string, args ...any) bool,
) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "thresh", Level: hclog.LevelFromString(set.Level), Output: w, JSONFormat: set.Format == "json",
		Exclude: exclude,
	})
}

// FromSlog returns a logger that passes everything on to l. The runtime logs with hclog because go-plugin does.
func FromSlog(l *slog.Logger) hclog.Logger {
	sink := slogSink{l}
	logger := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "thresh", Output: io.Discard, Level: sink.level()})
	logger.RegisterSink(sink)
	return logger
}

type slogSink struct{ log *slog.Logger }

func (s slogSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	l := s.log
	if !l.Enabled(context.Background(), slogLevel(level)) {
		return
	}
	l.With("logger", name).Log(context.Background(), slogLevel(level), msg, args...)
}

// level is the least severe level that the slog logger is enabled for, so nothing is formatted in vain.
func (s slogSink) level() hclog.Level {
	for level := hclog.Trace; level < hclog.Error; level++ {
		if s.log.Enabled(context.Background(), slogLevel(level)) {
			return level
		}
	}
	return hclog.Error
}

// slogLevel translates a level. slog has no trace level: by custom it is four below debug.
func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Trace:
		return slog.LevelDebug - 4
	case hclog.Debug:
		return slog.LevelDebug
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
