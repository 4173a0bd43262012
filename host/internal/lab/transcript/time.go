package transcript

import (
	"strconv"
	"time"

	"github.com/thresh-dev/thresh/sdk/content"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// Time returns when an entry was recorded, from metadata.timestamp: text in RFC 3339, or a number of seconds or
// milliseconds since 1970. Text without a zone, as Python writes it, is read as UTC: durations within a session are
// then right even if the hour is not. ok is false if there is no timestamp or it is none of these.
func Time(c content.Content) (t time.Time, ok bool) {
	raw := rawjson.Field(c.Metadata, "timestamp")
	if text, isText := rawjson.Text(raw); isText {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} { // fractions are read with both
			if t, err := time.Parse(layout, text); err == nil {
				return t, true
			}
		}
		return time.Time{}, false
	}
	// Recorders write both seconds and milliseconds; real times of either do not overlap.
	const (
		firstMillis = 1e11 // in seconds the year 5138, in milliseconds 1973
		end         = 1e14 // in milliseconds the year 5138
	)
	switch n, err := strconv.ParseFloat(string(raw), 64); {
	case err != nil || !(n > 0 && n < end):
		return time.Time{}, false
	case n < firstMillis:
		return time.UnixMicro(int64(n * 1e6)).UTC(), true
	default:
		return time.UnixMicro(int64(n * 1e3)).UTC(), true
	}
}
