package transcript

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// A lineReader reads a format of one JSON object a line.
type lineReader interface {
	// record reads one record. What it keeps of it, it must copy: the next line takes its place.
	record(record) error
	// end is called after the last line.
	end() error
}

// maxUndecided bounds the records at the beginning of a file that may leave its format open. They are held in memory
// until the format is known.
const maxUndecided = 100

// lineFile is a file of one object a line.
type lineFile struct {
	s *source
	o Options
	b *builder
}

// record is one line of a file.
type record struct {
	line  int    // counted from 1
	whole []byte // the text of the line
	object
}

// readLines reads a file of one object a line. The first line was read already, and there is a second one.
func readLines(s *source, o Options, first []byte, line int, offset int64) (*Transcript, error) {
	f := lineFile{s: s, o: o, b: newBuilder()}
	rec, err := f.parse(first, line, offset)
	if err != nil {
		return nil, err
	}
	waiting := []record{rec} // records that do not tell the format
	reader, err := sniffLine(f.b, rec)
	for reader == nil && err == nil && len(waiting) < maxUndecided {
		if rec, err = f.next(true); err == nil {
			waiting = append(waiting, rec)
			reader, err = sniffLine(f.b, rec)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if reader == nil {
		return nil, unknownObject(waiting[0])
	}
	for _, rec := range waiting {
		if err := reader.record(rec); err != nil {
			return nil, err
		}
	}
	for {
		rec, err := f.next(false)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := reader.record(rec); err != nil {
			return nil, err
		}
	}
	if err := reader.end(); err != nil {
		return nil, err
	}
	return f.b.finish(), nil
}

// next reads the next record, io.EOF at the end. Unless keep is set, it is valid until the next call.
func (f *lineFile) next(keep bool) (record, error) {
	line, complete, err := f.s.next()
	if err != nil {
		return record{}, err
	}
	if keep {
		line = bytes.Clone(line)
	}
	rec, err := f.parse(line, f.s.line, f.s.offset)
	if !complete && f.o.AllowPartialLine && errors.Is(err, ErrTruncated) {
		f.b.note(f.s.line, -1, "the last record is cut off and was left out")
		return record{}, io.EOF
	}
	return rec, err
}

func (f *lineFile) parse(line []byte, number int, offset int64) (record, error) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		f.b.oddity(number, -1, "line with bytes that are not UTF-8", "bytes that are not UTF-8 were replaced by U+FFFD")
	}
	o, err := parseObject(line)
	if err != nil {
		return record{}, locate(err, line, number, offset)
	}
	return record{line: number, whole: line, object: o}, nil
}
