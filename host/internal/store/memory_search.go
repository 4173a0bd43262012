package store

import (
	"context"
	"slices"
)

func (m *Memory) Index(ctx context.Context, key Key, part Part) (bool, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	if part.After == 0 {
		s.index = nil
	} else if len(s.index) == 0 || s.index[len(s.index)-1].Until != part.After {
		return false, nil
	}
	s.index = append(s.index, part)
	return true, nil
}

func (m *Memory) Find(ctx context.Context, key Key, pieces []int) ([]Part, error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return nil, err
	}
	all := s.index // only appended to, or replaced
	m.mu.Unlock()
	found := make([]Part, len(all))
	for i, p := range all {
		found[i] = p.With(pieces)
	}
	return found, nil
}

func (m *Memory) Last(ctx context.Context, key Key) (last Part, err error) {
	s, err := m.find(ctx, key)
	if err != nil {
		return last, err
	}
	defer m.mu.Unlock()
	if n := len(s.index); n > 0 {
		last = s.index[n-1].With(nil)
	}
	return last, nil
}

// With returns the part with its piece 0 and those of these numbers, of those it has.
func (p Part) With(pieces []int) Part {
	chosen := make(map[int][]byte, len(pieces)+1)
	for _, number := range append(slices.Clip(pieces), 0) {
		if data, ok := p.Pieces[number]; ok {
			chosen[number] = data
		}
	}
	p.Pieces = chosen
	return p
}

func (p Part) size() (bytes int64) {
	for _, data := range p.Pieces {
		bytes += int64(len(data))
	}
	return bytes
}
