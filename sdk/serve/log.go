package serve

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

const (
	logTime = "2006-01-02T15:04:05.000000Z07:00"
	// The host's reader splits lines at 64 KiB, and the rest of a longer line would lose its level.
	maxLogValue = 8 << 10
	maxLogLine  = 32 << 10
)

// logHandler writes JSON lines in the form that go-plugin reads from a plugin's stderr: @level, @message and @timestamp
// in addition to the attributes. Groups become prefixes: "group.key". It is immutable; With… return copies.
type logHandler struct {
	out    *logOutput
	attrs  []slog.Attr // with their groups in their keys
	prefix string      // of the open groups, ending in a dot
}

type logOutput struct {
	mu    sync.Mutex
	w     io.Writer
	level slog.LevelVar
}

// newLogHandler writes to w, the process's stderr, at level info until the host says otherwise
// (ConfigureRequest.log_level).
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

// Handle writes one line. It drops attributes that do not fit and says so in the line.
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
	// Attributes cannot take the room of the message.
	room := maxLogLine - maxLogValue
	for _, a := range attrs {
		raw := logJSON(a.Value)
		if room -= len(a.Key) + len(raw); room < 0 {
			line["attributes_dropped"] = true
			break
		}
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

// appendAttrs adds attributes with their full keys. It flattens groups and drops empty attributes, as slog asks.
func appendAttrs(dst []slog.Attr, prefix string, attrs []slog.Attr) []slog.Attr {
	for _, a := range attrs {
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

// logKey keeps names with an @ for the SDK: the host's reader takes them for its own and insists on strings.
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

// clipLog cuts text to half of maxLogValue, since escaping can double it.
func clipLog(s string) string {
	return text.Clip(s, maxLogValue/2)
}

// levelName is hclog's name for a level. Levels between two names have the lower one.
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

// levelOf reads ConfigureRequest.log_level. Unknown names, of a newer host, are info.
func levelOf(name string) slog.Level {
	switch name {
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
