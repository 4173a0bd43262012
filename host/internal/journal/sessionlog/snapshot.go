package sessionlog

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thresh-dev/thresh/host/internal/history"
	"github.com/thresh-dev/thresh/host/internal/store"
)

// Snapshot is enough to resume a session from a record on: which entries its history has, and what it remembers. It
// takes a few bytes for each run of entries, however large they are. Reading it means reading the records that Places
// name too.
type Snapshot struct {
	// Encoding is the entries' tokenizer.
	Encoding string
	History  history.State
	// Places are where the entries of the history are, in their order.
	Places []history.Place
	// Tasks is what package todos read from the agent's calls about its tasks, as JSON; opaque here.
	Tasks []byte
	// Groups are all groups of the state, even those of a later version.
	Groups Groups
	// Done are the remembered additions under keys, in their order.
	Done []Done
}

// The fields of a snapshot. 1 is the tag of a record.
const (
	snapshotRevision       = 2
	snapshotEpoch          = 3
	snapshotAdded          = 4
	snapshotAppends        = 5
	snapshotRewroteAdded   = 6
	snapshotRewroteAppends = 7
	snapshotLastID         = 8
	snapshotPlaces         = 9
	snapshotTasks          = 10
	snapshotGroups         = 11
	snapshotEncoding       = 12
	snapshotDone           = 13
)

// AppendSnapshot encodes a record. A snapshot says nothing that the log before it does not: a session can be read
// without it, from the beginning.
func AppendSnapshot(tag uint64, s Snapshot) []byte {
	m := record()
	m.uint(recordTag, tag)
	m.uint(snapshotRevision, s.History.Revision)
	m.uint(snapshotEpoch, s.History.Epoch)
	added, appends := s.History.Now.Counts()
	m.uint(snapshotAdded, added)
	m.uint(snapshotAppends, appends)
	added, appends = s.History.Rewrote.Counts()
	m.uint(snapshotRewroteAdded, added)
	m.uint(snapshotRewroteAppends, appends)
	m.uint(snapshotLastID, s.History.LastID)
	m.bytes(snapshotPlaces, appendPlaces(nil, s.Places))
	// Tasks, places and groups are written even if they are empty.
	m.bytes(snapshotTasks, s.Tasks)
	var groups message
	groups.groups(s.Groups)
	m.bytes(snapshotGroups, groups)
	m.string(snapshotEncoding, s.Encoding)
	for _, d := range s.Done {
		m.done(d)
	}
	return m.sealed(store.Snapshot)
}

// appendPlaces encodes places as runs: consecutive entries of one record, and the difference to the record before.
// After a rewrite the records may go back and forth, hence the sign.
func appendPlaces(dst []byte, places []history.Place) []byte {
	record := uint64(0)
	for i := 0; i < len(places); {
		n := 1
		for i+n < len(places) && places[i+n] == (history.Place{
			Record: places[i].Record, Index: places[i].Index + n,
		}) {
			n++
		}
		// The difference wraps around below zero, and is added back in the same way.
		dst = protowire.AppendVarint(dst, protowire.EncodeZigZag(int64(places[i].Record-record)))
		dst = protowire.AppendVarint(dst, uint64(places[i].Index))
		dst = protowire.AppendVarint(dst, uint64(n))
		record = places[i].Record
		i += n
	}
	return dst
}

// maxPlaces bounds a history: a damaged record must not fill the memory.
const maxPlaces = 1 << 26

func readPlaces(data []byte) (places []history.Place, err error) {
	record := uint64(0)
	next := func() (v uint64) {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			err, data = damaged("the list of entries is cut off"), nil
			return 0
		}
		data = data[n:]
		return v
	}
	for len(data) > 0 && err == nil {
		record += uint64(protowire.DecodeZigZag(next()))
		index, n := next(), next()
		if index > maxPlaces || n > maxPlaces || len(places)+int(n) > maxPlaces {
			return nil, damaged("a list of too many entries")
		}
		for i := range int(n) {
			places = append(places, history.Place{Record: record, Index: int(index) + i})
		}
	}
	return places, err
}

// ReadSnapshot decodes a record. The error is [ErrNewer] or [ErrDamaged]. Tasks and the groups share the memory of
// data.
func ReadSnapshot(data []byte) (s Snapshot, err error) {
	data, err = body(store.Snapshot, data)
	if err != nil {
		return s, err
	}
	var now, rewrote [2]uint64
	err = fields(data, func(f field) (err error) {
		switch f.number {
		case snapshotRevision:
			s.History.Revision = f.varint
		case snapshotEpoch:
			s.History.Epoch = f.varint
		case snapshotAdded:
			now[0] = f.varint
		case snapshotAppends:
			now[1] = f.varint
		case snapshotRewroteAdded:
			rewrote[0] = f.varint
		case snapshotRewroteAppends:
			rewrote[1] = f.varint
		case snapshotLastID:
			s.History.LastID = f.varint
		case snapshotPlaces:
			s.Places, err = readPlaces(f.bytes)
		case snapshotEncoding:
			s.Encoding = f.string()
		case snapshotDone:
			var d Done
			d, err = readDone(f.bytes)
			s.Done = append(s.Done, d)
		case snapshotTasks:
			s.Tasks = f.raw()
		case snapshotGroups:
			s.Groups = Groups{}
			err = fields(f.bytes, func(f field) error {
				s.Groups[int32(f.number)] = f.raw()
				return nil
			})
		}
		return err
	})
	s.History.Now, s.History.Rewrote = history.PointOf(now[0], now[1]), history.PointOf(rewrote[0], rewrote[1])
	return s, err
}
