package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// rows are the first and the last row that passages of a session may have in the table of terms.
func rows(session int64) []any {
	return []any{session * store.MaxPassages, (session+1)*store.MaxPassages - 1}
}

// prefix begins the terms of a session. No term has an underscore of its own.
func prefix(session int64) string { return strconv.FormatInt(session, 36) + "_" }

// Index implements [store.Searches].
func (s *Store) Index(ctx context.Context, key store.Key, part store.Part) (bool, error) {
	id, _, err := s.find(ctx, key)
	if err != nil {
		return false, err
	}
	// Here, not in the writer, which everyone waits for.
	texts, before := make([]string, len(part.Passages)), prefix(id)
	var b strings.Builder
	for i, terms := range part.Passages {
		b.Reset()
		for _, t := range terms {
			b.WriteString(before)
			b.WriteString(t)
			b.WriteByte(' ')
		}
		texts[i] = b.String()
	}
	return write(ctx, s, func(st *statements, _ *job) (bool, error) { return st.index(key, id, part, texts) })
}

func (st *statements) index(key store.Key, id int64, part store.Part, texts []string) (bool, error) {
	var n int
	if err := st.sameSession.QueryRowContext(background, id).Scan(&n); err != nil {
		return false, err
	}
	if n == 0 {
		return false, store.NotFound(key)
	}
	var until uint64
	var next int
	err := st.lastPart.QueryRowContext(background, id).Scan(&until, &next)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	if part.After != 0 && until != part.After {
		return false, nil
	}
	if next, err = part.Next(next); err != nil {
		return false, err
	}
	if part.After == 0 {
		if _, err := st.deleteTerms.ExecContext(background, rows(id)...); err != nil {
			return false, err
		}
		if _, err := st.deleteParts.ExecContext(background, id); err != nil {
			return false, err
		}
	}
	_, err = st.part.ExecContext(background, id, next, len(texts), int64(part.After), int64(part.Until),
		store.Blob(part.Data))
	for i := 0; i < len(texts) && err == nil; i++ {
		_, err = st.terms.ExecContext(background, id*store.MaxPassages+int64(next+i), texts[i])
	}
	return err == nil, err
}

// Find implements [store.Searches]. It never waits for the writer.
func (s *Store) Find(ctx context.Context, key store.Key, terms []string) (found store.Index, err error) {
	id, _, err := s.find(ctx, key)
	if err != nil {
		return found, err
	}
	if found.Parts, err = s.parts(ctx, id); err != nil {
		return found, s.fault(ctx, err)
	}
	before := prefix(id)
	found.Has = make([][]uint32, len(terms))
	for i, t := range terms {
		var list []byte
		if err := s.queries.having.QueryRowContext(ctx, `"`+before+t+`"`).Scan(&list); err != nil {
			return found, s.fault(ctx, err)
		}
		if err := json.Unmarshal(list, &found.Has[i]); err != nil {
			return found, s.fault(ctx, err)
		}
	}
	return found, nil
}

func (s *Store) parts(ctx context.Context, id int64) (parts []store.Part, err error) {
	rows, err := s.queries.parts.QueryContext(ctx, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p store.Part
		if err := rows.Scan(&p.First, &p.After, &p.Until, &p.Data); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, rows.Err()
}
