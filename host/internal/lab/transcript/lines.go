package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/thresh-dev/thresh/host/internal/provider/ordered"
	"github.com/thresh-dev/thresh/sdk/content/rawjson"
)

// A lineReader reads a format of one JSON object per line. Calls are in the order of the file, on one goroutine; the
// first error ends the reading.
type lineReader interface {
	// record reads one record. It must copy what it keeps: the buffer is reused for the next line.
	record(record) error
	// end is called once after the last line, to complete what only the whole file decides.
	end() error
}

// maxUndecided bounds how many records at the beginning of a file may leave its format open. They are held in memory
// until it is known. 100 covers the bookkeeping that newer versions put first.
const maxUndecided = 100

// lineFile is a file of one object per line while it is read. The format is found once, at the beginning.
type lineFile struct {
	s *source
	o Options
	b *builder
	// more are the further records of the line that was read last.
	more []record
}

type record struct {
	line  int // counted from 1
	whole []byte
	ordered.Object
	broken error // why the line is no record
	begins bool  // it is the beginning of a line whose rest is whole
}

// readLines reads a file of one object per line, of which the first was read. Records that do not reveal the format
// wait, and are replayed to the reader once it is known.
func readLines(s *source, o Options, first []byte, line int, offset int64) (*Transcript, error) {
	f := lineFile{s: s, o: o, b: newBuilder()}
	if s.before > 0 {
		f.b.note(1, -1, "%d × line of text before the first record left out", s.before)
	}
	rec := f.parse(first, line, offset)
	waiting := []record{rec}
	format, err := o.From, rec.broken
	if format == "" && err == nil {
		format, err = sniffLine(rec)
	}
	// A short file may end with io.EOF before the format is known.
	for format == "" && err == nil && len(waiting) < maxUndecided {
		if rec, err = f.next(true); err == nil {
			waiting = append(waiting, rec)
			format, err = sniffLine(rec)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if format == "" {
		return nil, unknownObject(waiting[0])
	}
	reader, err := format.lines(f.b)
	if err != nil {
		return nil, err
	}
	for _, rec := range waiting {
		if err := f.take(reader, rec); err != nil {
			return nil, err
		}
	}
	for {
		rec, err := f.next(false)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = f.take(reader, rec)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := reader.end(); err != nil {
		return nil, err
	}
	return f.b.finish(o)
}

// take gives a record to the reader. A broken line, which agents leave when they are killed or write from two processes,
// costs that line and a note; only a history of thresh's own is refused.
func (f *lineFile) take(reader lineReader, rec record) error {
	err := rec.broken
	if err == nil {
		f.b.size += len(rec.whole)
		err = reader.record(rec)
	}
	var e *Error
	if f.b.t.Format == Native || !errors.As(err, &e) {
		return err
	}
	if errors.Is(e.Reason, ErrTruncated) {
		e.Reason = ErrSyntax // of the line, not of the file
	}
	where := ""
	if e.Offset >= 0 {
		where = fmt.Sprintf(" (byte %d)", e.Offset)
	}
	what := "the line"
	if rec.begins {
		what = "the record at its beginning"
	}
	f.b.oddity(e.Line, -1, "broken line", "%v%s: %s; %s is left out", e.Reason, where, e.Detail, what)
	f.b.miss("broken lines", len(rec.whole))
	return nil
}

// next reads the next record; io.EOF at the end. Unless keep is set, the record is valid only until the next call. With
// [Options.AllowCut], a last line that is cut off ends the file too, with a note.
func (f *lineFile) next(keep bool) (record, error) {
	if len(f.more) > 0 {
		rec := f.more[0]
		f.more = f.more[1:]
		return rec, nil
	}
	line, complete, err := f.s.next()
	if err != nil {
		return record{}, err
	}
	if keep {
		line = bytes.Clone(line)
	}
	rec := f.parse(line, f.s.line, f.s.offset)
	if n := len(f.more) - 1; n >= 0 && !complete && errors.Is(f.more[n].broken, ErrTruncated) && f.o.AllowCut {
		f.b.note(f.s.line, -1, "the last record is cut off and was left out")
		f.more = f.more[:n]
	}
	// Only a last line without a line break may be cut; broken JSON in it is an error all the same.
	if !complete && errors.Is(rec.broken, ErrTruncated) {
		if !f.o.AllowCut {
			return record{}, rec.broken
		}
		f.b.note(f.s.line, -1, "the last record is cut off and was left out")
		return record{}, io.EOF
	}
	return rec, nil
}

// parse parses one line; further records of it are in f.more. Bytes that are not UTF-8 are replaced and noted: recorders
// copy command output, which may be cut within a character, and refusing a session for this would help no user.
func (f *lineFile) parse(line []byte, number int, offset int64) record {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		f.b.oddity(number, -1, "line with bytes that are not UTF-8", "bytes that are not UTF-8 were replaced by U+FFFD")
	}
	o, err := ordered.Parse(line)
	if err == nil {
		return record{line: number, whole: line, Object: o}
	}
	head, rest := records(line, err)
	if len(rest) == 0 {
		return record{line: number, whole: line, broken: locate(err, line, number, offset)}
	}
	f.b.tally.Routine(number, -1, "line with several records, each of which was read")
	for _, part := range rest {
		o, err := ordered.Parse(part)
		rec := record{line: number, whole: part, Object: o}
		if err != nil { // the last one
			rec.broken = locate(err, part, number, offset+int64(len(line)-len(part)))
		}
		f.more = append(f.more, rec)
	}
	if o, errHead := ordered.Parse(head); errHead == nil {
		return record{line: number, whole: head, Object: o}
	}
	return record{line: number, whole: head, broken: locate(err, line, number, offset), begins: true}
}

// records splits a line of several records, as two processes leave that write to one file, or one that was killed and
// began again behind what it had written. err is why the line is not one record, which names the place: at the
// beginning of the second one, or in its first name if the first was cut within a text. Where the first is broken, the
// others count only if all are whole, or a part of it could be taken for one. rest is empty for any other line.
func records(line []byte, err error) (head []byte, rest [][]byte) {
	syntax, ok := errors.AsType[*rawjson.SyntaxError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	}
	at := bytes.LastIndexByte(line[:min(syntax.Offset+2, len(line))], '{')
	if at <= 0 {
		return nil, nil
	}
	head = line[:at]
	whole := checkJSON(head) == nil
	for left := line[at:]; len(left) > 0; {
		s := rawjson.New(left)
		part, err := s.Skip()
		if err != nil || ordered.Kind(part) != '{' {
			if !whole {
				return nil, nil
			}
			return head, append(rest, left)
		}
		rest = append(rest, part)
		left = bytes.TrimLeft(left[s.Offset():], " \t\r\n")
	}
	return head, rest
}
