package window

import "sync"

// shared is what sessions with the same settings have in common. It is safe for concurrent use; the zero value is
// empty.
type shared[K comparable, V any] struct {
	mu   sync.Mutex
	made map[K]*V // by what it was made from
}

// maxShared bounds the memory that agents can fill with different settings.
const maxShared = 16

// of returns what was made for a key, or makes it. Failures are not kept.
func (s *shared[K, V]) of(key K, create func() (*V, error)) (*V, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if made := s.made[key]; made != nil {
		return made, nil
	}
	made, err := create()
	if err != nil {
		return nil, err
	}
	if s.made == nil || len(s.made) >= maxShared {
		s.made = map[K]*V{}
	}
	s.made[key] = made
	return made, nil
}
