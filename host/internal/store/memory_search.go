package store

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// memoryIndex is the index of one session. It has a lock of its own: adding to it takes longer than all else.
type memoryIndex struct {
	mu    sync.RWMutex
	parts []Part
	next  int // the number of the next passage
	has   map[string][]uint32
	bytes int64
}

func (m *Memory) Index(ctx context.Context, key Key, part Part) (bool, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return false, err
	}
	x := s.index
	m.mu.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	if part.First, err = part.Next(x.next); err != nil {
		return false, err
	}
	switch {
	case part.After == 0:
		x.parts, x.has, x.bytes = nil, map[string][]uint32{}, 0
	case len(x.parts) == 0 || x.parts[len(x.parts)-1].Until != part.After:
		return false, nil
	}
	for i, terms := range part.Passages {
		for _, t := range terms {
			list, known := x.has[t]
			if !known {
				t = strings.Clone(t) // not a part of the text that it was found in
				x.bytes += int64(len(t))
			}
			x.has[t] = append(list, uint32(part.First+i))
			x.bytes += 4
		}
	}
	x.next += len(part.Passages)
	x.bytes += int64(len(part.Data))
	part.Passages = nil
	x.parts = append(x.parts, part)
	return true, nil
}

func (m *Memory) Find(ctx context.Context, key Key, terms []string) (found Index, err error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return found, err
	}
	x := s.index
	m.mu.Unlock()
	x.mu.RLock()
	defer x.mu.RUnlock()
	found.Parts = slices.Clone(x.parts)
	for _, t := range terms {
		found.Has = append(found.Has, slices.Clip(x.has[t])) // only appended to
	}
	return found, nil
}

func (x *memoryIndex) size() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.bytes
}
