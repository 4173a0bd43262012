package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/thresh-dev/thresh/internal/text"
)

// Limits of a line, in bytes, and the form of its time. The host's reader splits lines at 64 KiB.
const (
	logTime = "2006-01-02T15:04:05.000000Z07:00"
	// A line above 64 KiB would lose its level in the host; lines stay far below that.
	maxLogValue = 8 << 10
	maxLogLine  = 32 << 10
)

// logHandler writes JSON lines in the form that go-plugin reads from a plugin's stderr: @level, @message and @timestamp
// in addition to the attributes. Groups become prefixes: "group.key". It is immutable; With… return copies. The host
// takes the level and the message from these fields and writes the line into its own log.
type logHandler struct {
	out    *logOutput
	attrs  []slog.Attr // with their groups in their keys
	prefix string      // of the open groups, with a dot at its end
}

// logOutput is where all handlers of a process write, and from which level on.
type logOutput struct {
	mu    sync.Mutex // one line at a time
	w     io.Writer
	level slog.LevelVar
}

// newLogHandler writes to w at level info until the host says otherwise (ConfigureRequest.log_level). w is the
// process's standard error, which go-plugin reads.
func newLogHandler(w io.Writer) *logHandler { return &logHandler{out: &logOutput{w: w}} }

// Enabled implements slog.Handler. The level may change while the process runs.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.out.level.Level()
}

// WithAttrs implements slog.Handler. The slice is clipped before it grows, since handlers share their attributes.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{out: h.out, attrs: appendAttrs(h.attrs[:len(h.attrs):len(h.attrs)], h.prefix, attrs),
		prefix: h.prefix}
}

// WithGroup implements slog.Handler. A group without a name is none, as slog asks.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &logHandler{out: h.out, attrs: h.attrs, prefix: h.prefix + name + "."}
}

// Handle writes one line. Attributes for which the line has no room are dropped, and the line says so.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := h.attrs[:len(h.attrs):len(h.attrs)]
	r.Attrs(func(a slog.Attr) bool {
		attrs = appendAttrs(attrs, h.prefix, []slog.Attr{a})
		return true
	})
	line := map[string]any{
		"@level":     levelName(r.Level),
		"@message":   clipLog(r.Message),
		"@timestamp": r.Time.Format(logTime),
	}
	// Room for the message is kept apart, so that attributes cannot crowd it out.
	room := maxLogLine - maxLogValue
	for _, a := range attrs {
		raw := logJSON(a.Value)
		if room -= len(a.Key) + len(raw); room < 0 {
			line["attributes_dropped"] = true
			break
		}
		// Of two attributes with one key the later one counts, as a JSON object has a key once.
		line[logKey(a.Key)] = raw
	}
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("log line: %w", err)
	}
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	_, err = h.out.w.Write(append(b, '\n'))
	return err
}

// appendAttrs adds attributes with their full keys. Groups are flattened, and empty attributes left out, as slog asks.
func appendAttrs(dst []slog.Attr, prefix string, attrs []slog.Attr) []slog.Attr {
	for _, a := range attrs {
		// Values may be computed lazily; from here on they are what they are.
		a.Value = a.Value.Resolve()
		switch {
		case a.Equal(slog.Attr{}):
		case a.Value.Kind() == slog.KindGroup && a.Key == "":
			dst = appendAttrs(dst, prefix, a.Value.Group())
		case a.Value.Kind() == slog.KindGroup:
			dst = appendAttrs(dst, prefix+a.Key+".", a.Value.Group())
		default:
			dst = append(dst, slog.Attr{Key: prefix + a.Key, Value: a.Value})
		}
	}
	return dst
}

// logKey keeps the names with an @ to ourselves: the host's reader takes them for its own and insists on strings.
func logKey(key string) string {
	if strings.HasPrefix(key, "@") {
		return "_" + key
	}
	return key
}

// logJSON encodes a value. What does not marshal, or is too long, is written as text and cut.
func logJSON(v slog.Value) json.RawMessage {
	value := v.Any()
	switch x := value.(type) {
	// Before Stringer: an error may be both.
	case error:
		value = x.Error()
	case time.Duration:
		value = x.String()
	case fmt.Stringer:
		value = x.String()
	}
	if s, ok := value.(string); ok {
		value = clipLog(s)
	}
	raw, err := json.Marshal(value)
	if err != nil || len(raw) > maxLogValue {
		raw, err = json.Marshal(clipLog(fmt.Sprint(value)))
	}
	if err != nil { // a string always marshals
		return json.RawMessage("null")
	}
	return raw
}

// clipLog cuts text to half of the longest value, since escaping can double it.
func clipLog(s string) string {
	return text.Clip(s, maxLogValue/2)
}

// levelName is the name that the host's log uses for a level. slog's levels are numbers with gaps, so that any level in
// between has the name of the one below.
func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelDebug:
		return "trace"
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

// levelOf reads ConfigureRequest.log_level. Unknown names (from a newer host) are info.
func levelOf(name string) slog.Level {
	switch name {
	// hclog's trace has no name in slog; it is one step below debug.
	case "trace":
		return slog.LevelDebug - 4
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	}
	return slog.LevelInfo
}
