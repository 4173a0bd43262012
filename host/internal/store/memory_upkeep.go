package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

func (m *Memory) Secret(ctx context.Context, name string) ([]byte, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if m.secrets[name] == nil {
		m.secrets[name] = NewSecret()
	}
	return bytes.Clone(m.secrets[name]), nil
}

func (m *Memory) CreateAccess(ctx context.Context, access Access) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if old, ok := m.accesses[access.Name]; ok && old.Revoked.IsZero() {
		return fmt.Errorf("access token %q: %w", access.Name, ErrExists)
	}
	access.Created, access.Revoked = time.Now(), time.Time{}
	access.Hash, access.Limits = bytes.Clone(access.Hash), bytes.Clone(access.Limits)
	m.accesses[access.Name] = access
	return nil
}

func (m *Memory) ChangeAccess(ctx context.Context, from, to Access) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	access, ok := m.accesses[from.Name]
	if !ok || !access.Revoked.IsZero() || !bytes.Equal(access.Hash, from.Hash) ||
		!bytes.Equal(access.Limits, from.Limits) {
		return fmt.Errorf("access token %q: %w", from.Name, ErrNotFound)
	}
	if !bytes.Equal(access.Hash, to.Hash) {
		access.Created = time.Now()
	}
	access.Hash, access.Limits = bytes.Clone(to.Hash), bytes.Clone(to.Limits)
	m.accesses[from.Name] = access
	return nil
}

func (m *Memory) Accesses(ctx context.Context) ([]Access, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	byName := func(a, b Access) int { return cmp.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Values(m.accesses), byName), nil
}

// RevokeAccess implements [Accesses]. Revoking a token twice is an error: the second caller expected it to work.
func (m *Memory) RevokeAccess(ctx context.Context, name string) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	access, ok := m.accesses[name]
	if !ok || !access.Revoked.IsZero() {
		return fmt.Errorf("access token %q: %w", name, ErrNotFound)
	}
	access.Revoked = time.Now()
	m.accesses[name] = access
	return nil
}

// Account implements [Accesses].
func (m *Memory) Account(ctx context.Context, name, day string, add Used) (Used, error) {
	if err := m.lock(ctx); err != nil {
		return Used{}, err
	}
	defer m.mu.Unlock()
	key := [2]string{day, name}
	m.used[key] = m.used[key].Plus(add)
	return m.used[key], nil
}

// Accounts implements [Accesses].
func (m *Memory) Accounts(ctx context.Context, since string) (all []Account, err error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for key, used := range m.used {
		if key[0] >= since {
			all = append(all, Account{Day: key[0], Name: key[1], Used: used})
		}
	}
	slices.SortFunc(all, func(a, b Account) int { return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

// Usage implements [Accesses]. A content of two sessions counts twice.
func (m *Memory) Usage(ctx context.Context, owner string) (u Usage, err error) {
	if err := m.lock(ctx); err != nil {
		return Usage{}, err
	}
	defer m.mu.Unlock()
	for key, s := range m.sessions {
		if key.Owner == owner {
			u.Sessions++
			u.Bytes += s.head.Bytes
		}
	}
	return u, nil
}

func (m *Memory) Check(ctx context.Context) error {
	err := m.lock(ctx)
	if err == nil {
		m.mu.Unlock()
	}
	return err
}

func (m *Memory) Ready(ctx context.Context) error { return m.Check(ctx) }

func (m *Memory) Size(ctx context.Context) (size Size, err error) {
	if err := m.lock(ctx); err != nil {
		return Size{}, err
	}
	defer m.mu.Unlock()
	size.Sessions = len(m.sessions)
	// Contents count once however many sessions share them: this is what memory holds.
	for _, s := range m.sessions {
		size.Records += int64(len(s.records))
		for _, r := range s.records {
			size.Bytes += int64(r.size())
		}
		for _, p := range s.index {
			size.Bytes += p.size()
		}
	}
	for _, owned := range m.contents {
		for _, c := range owned {
			size.Bytes += int64(len(c.data))
		}
	}
	return size, nil
}

func (m *Memory) Watch(ctx context.Context, changed func(Notice)) error {
	if err := m.Check(ctx); err != nil {
		return err
	}
	return m.hub.Watch(ctx, changed)
}

func (m *Memory) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.hub.Close()
	return nil
}
