package process

import (
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// What one process may log: a burst, and what is added to it each second. It is far above what a strategy that logs
// each call needs, and far below what fills a disk or hides the log lines of others.
const (
	logBurstLines, logLines = 500, 50
	logBurstBytes, logBytes = 512 << 10, 32 << 10
	// parseFactor is how much more is looked at than logged: lines below the log's level count as looked at only.
	parseFactor = 20
	// reportEvery is the shortest time between two reports of dropped lines.
	reportEvery = 10 * time.Second
)

// logQuota bounds what all of a process's streams add to the log, and counts what was dropped. It is safe for
// concurrent use.
type logQuota struct {
	log hclog.Logger
	now func() time.Time

	mu           sync.Mutex
	parse, write bucket
	dropped      int // since the last report
	droppedBytes int
	reported     time.Time
}

func newLogQuota(log hclog.Logger, now func() time.Time) *logQuota {
	at := now()
	return &logQuota{
		log: log, now: now,
		parse: bucket{
			at: at, factor: parseFactor, lines: parseFactor * logBurstLines, bytes: parseFactor * logBurstBytes,
		},
		write: bucket{at: at, factor: 1, lines: logBurstLines, bytes: logBurstBytes},
	}
}

// mayParse reports whether a line of so many bytes may be looked at, to decide whether to log it.
func (q *logQuota) mayParse(bytes int) bool { return q.may(&q.parse, bytes) }

func (q *logQuota) mayLog(bytes int) bool { return q.may(&q.write, bytes) }

// may takes a line out of a bucket, or counts it as dropped.
func (q *logQuota) may(b *bucket, bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if b.take(now, bytes) {
		return true
	}
	q.dropped++
	q.droppedBytes += bytes
	if now.Sub(q.reported) >= reportEvery {
		q.report(now)
	}
	return false
}

// finish logs what was dropped since the last report. Call it when the output has ended.
func (q *logQuota) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.report(q.now())
}

// report needs mu.
func (q *logQuota) report(now time.Time) {
	if q.dropped == 0 {
		return
	}
	q.log.Warn("plugin logs too much, lines were dropped", "lines", q.dropped, "bytes", q.droppedBytes)
	q.dropped, q.droppedBytes, q.reported = 0, 0, now
}

// bucket fills with time, up to a burst, and is emptied by lines.
type bucket struct {
	at           time.Time // when it was last filled
	factor       float64   // times the constants above
	lines, bytes float64   // what may be taken now
}

func (b *bucket) take(now time.Time, bytes int) bool {
	seconds := now.Sub(b.at).Seconds()
	b.at = now
	b.lines = min(b.factor*logBurstLines, b.lines+b.factor*logLines*seconds)
	b.bytes = min(b.factor*logBurstBytes, b.bytes+b.factor*logBytes*seconds)
	if b.lines < 1 || b.bytes < float64(bytes) {
		return false
	}
	b.lines--
	b.bytes -= float64(bytes)
	return true
}
