package sqlite

import (
	"context"
	"database/sql"

	"github.com/thresh-dev/thresh/host/internal/store"
)

// headColumns are what scanHead reads; each statement that returns a head ends with them.
const headColumns = `id, owner, name, revision, snapshot, fence, parent_owner, parent_name, forked_at, forked_entries,
	created, used, entries, tokens, bytes`

// scanHead reads headColumns. The id is the session's name in other tables.
func scanHead(row interface{ Scan(...any) error }) (id int64, h store.Head, err error) {
	var created, used int64
	err = row.Scan(&id, &h.Owner, &h.ID, &h.Revision, &h.Snapshot, &h.Fence, &h.Parent.Owner, &h.Parent.ID, &h.ForkedAt,
		&h.ForkedEntries, &created, &used, &h.Entries, &h.Tokens, &h.Bytes)
	h.Created, h.Used = fromMicros(created), fromMicros(used)
	return id, h, err
}

// statements are the writer's, on its one connection.
type statements struct {
	all []*sql.Stmt

	// A transaction begins with the write lock: one that begins by reading cannot wait for another process that is
	// writing when it wants to. version tells of commits by other connections.
	begin, commit, rollback, version *sql.Stmt

	create, head                    *sql.Stmt
	append, record                  *sql.Stmt
	content, refer, grow            *sql.Stmt
	holder, lease, shorten, release *sql.Stmt
	// In the order of a deletion: references before what they refer to.
	deleteRecords, referred      *sql.Stmt
	deleteRefers, deleteContents *sql.Stmt
	deleteSession                *sql.Stmt
	deletePieces                 *sql.Stmt
	sameSession, indexed, piece  *sql.Stmt
	// Each is one statement, so no other process can come between.
	createAccess, changeAccess, revoke, account, secret *sql.Stmt
}

// preparer is a connection or a pool, whose connections prepare a statement when they first need it.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// prepareAll prepares statements in no order. It returns those it has prepared, for the caller to close, with an error
// too.
func prepareAll(ctx context.Context, p preparer, texts map[**sql.Stmt]string) (done []*sql.Stmt, err error) {
	for statement, text := range texts {
		if *statement, err = p.PrepareContext(ctx, text); err != nil {
			return done, err
		}
		done = append(done, *statement)
	}
	return done, nil
}

// close closes the statements, for which SQLite would otherwise keep the connection and its files open.
func (st *statements) close() {
	for _, statement := range st.all {
		_ = statement.Close()
	}
	*st = statements{}
}

func (st *statements) prepare(ctx context.Context, conn *sql.Conn) (err error) {
	st.all, err = prepareAll(ctx, conn, map[**sql.Stmt]string{
		&st.begin:    "BEGIN IMMEDIATE",
		&st.commit:   "COMMIT",
		&st.rollback: "ROLLBACK",
		&st.version:  "PRAGMA data_version",

		&st.create: `INSERT INTO session (owner, name, revision, snapshot, fence, parent_owner, parent_name, forked_at,
				forked_entries, created, used, entries, tokens, bytes)
			VALUES (?1, ?2, 0, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 0, 0, 0)
			ON CONFLICT DO NOTHING RETURNING ` + headColumns,
		&st.head: "SELECT " + headColumns + " FROM session WHERE owner = ?1 AND name = ?2",

		// The condition makes concurrent hosts safe: see package store.
		&st.append: `UPDATE session SET revision = revision + ?3,
				snapshot = CASE WHEN ?4 > 0 THEN revision + ?4 ELSE snapshot END,
				entries = ?5, tokens = ?6, bytes = bytes + ?7, used = ?8
			WHERE owner = ?1 AND name = ?2 AND revision = ?9 AND fence = ?10
				AND (?11 = '' OR holder = ?11 AND held_until > ?8)
			RETURNING ` + headColumns,
		&st.record: "INSERT INTO record (session, seq, kind, data) VALUES (?1, ?2, ?3, ?4)",
		// A content that the owner has is not written again; refer finds it. Only a new reference makes the session
		// grow.
		&st.content: `INSERT INTO content (owner, hash, data) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING`,
		&st.refer: `INSERT INTO refer (session, content)
			SELECT ?1, id FROM content WHERE owner = ?2 AND hash = ?3 ON CONFLICT DO NOTHING`,
		&st.grow: "UPDATE session SET bytes = bytes + ?2 WHERE id = ?1",

		&st.holder: "SELECT holder, held_until FROM session WHERE owner = ?1 AND name = ?2",
		// The same transaction has checked that the lease is free.
		&st.lease: `UPDATE session SET fence = CASE WHEN holder = ?3 THEN fence ELSE fence + 1 END,
				holder = ?3, held_until = ?4
			WHERE owner = ?1 AND name = ?2 RETURNING ` + headColumns,
		&st.shorten: "UPDATE session SET held_until = ?3 WHERE owner = ?1 AND name = ?2",
		&st.release: "UPDATE session SET held_until = 0 WHERE owner = ?1 AND name = ?2 AND holder = ?3",

		&st.deleteRecords: "DELETE FROM record WHERE session = ?1",
		&st.referred:      "SELECT json_group_array(content) FROM refer WHERE session = ?1",
		&st.deleteRefers:  "DELETE FROM refer WHERE session = ?1",
		&st.deleteContents: `DELETE FROM content WHERE id IN (SELECT value FROM json_each(?1))
			AND NOT EXISTS (SELECT 1 FROM refer WHERE refer.content = content.id)`,
		&st.deleteSession: "DELETE FROM session WHERE id = ?1",

		&st.deletePieces: "DELETE FROM piece WHERE session = ?1",
		&st.sameSession:  "SELECT count(*) FROM session WHERE id = ?1",
		&st.indexed:      "SELECT coalesce(max(until), 0) FROM piece WHERE session = ?1 AND number = 0",
		&st.piece:        "INSERT INTO piece (session, number, until, data) VALUES (?1, ?2, ?3, ?4)",

		// A revoked token is replaced, a valid one is not.
		&st.createAccess: `INSERT INTO access (name, hash, created, revoked, limits) VALUES (?1, ?2, ?3, 0, ?4)
			ON CONFLICT DO UPDATE SET hash = ?2, created = ?3, revoked = 0, limits = ?4 WHERE revoked <> 0`,
		&st.changeAccess: `UPDATE access SET hash = ?4, limits = ?5, created = CASE hash WHEN ?4 THEN created ELSE ?6 END
			WHERE name = ?1 AND hash = ?2 AND limits = ?3 AND revoked = 0`,
		&st.revoke: "UPDATE access SET revoked = ?2 WHERE name = ?1 AND revoked = 0",
		&st.account: `INSERT INTO account (name, day, spent, saved, requests, whole, sent)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
			ON CONFLICT DO UPDATE SET spent = spent + ?3, saved = saved + ?4, requests = requests + ?5, whole = whole + ?6,
				sent = sent + ?7
			RETURNING spent, saved, requests, whole, sent`,
		&st.secret: "INSERT INTO secret (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = value RETURNING value",
	})
	return err
}

// queries are the readers' statements, on any connection of the pool.
type queries struct {
	head, exists, records, chosen, content, list, unused, accesses, accounts, usage, pieces, last *sql.Stmt
}

func (q *queries) prepare(ctx context.Context, read *sql.DB) error {
	_, err := prepareAll(ctx, read, map[**sql.Stmt]string{
		&q.head:   "SELECT " + headColumns + " FROM session WHERE owner = ?1 AND name = ?2",
		&q.exists: "SELECT count(*) FROM session WHERE id = ?1",
		// ?2 has a bit for each wanted kind.
		&q.records: `SELECT seq, kind, data FROM record WHERE session = ?1 AND ?2 >> kind & 1 AND seq BETWEEN ?3 AND ?4
			ORDER BY seq LIMIT ?5`,
		&q.chosen: `SELECT seq, kind, data FROM record WHERE session = ?1 AND ?2 >> kind & 1
			AND seq IN (SELECT value FROM json_each(?3)) ORDER BY seq`,
		&q.content: `SELECT data FROM content WHERE owner = ?1 AND hash = ?2`,
		// Pages begin after a name, not at a row number, so a session created meanwhile moves no other.
		&q.list: "SELECT " + headColumns + ` FROM session WHERE (owner, name) > (?1, ?2) AND (?3 OR owner = ?4)
			ORDER BY owner, name LIMIT ?5`,
		&q.unused:   "SELECT owner, name FROM session WHERE used < ?1",
		&q.accesses: "SELECT name, hash, created, revoked, limits FROM access ORDER BY name",
		&q.accounts: `SELECT name, day, spent, saved, requests, whole, sent FROM account WHERE day >= ?1
			ORDER BY day, name`,
		&q.pieces: `SELECT number, until, data FROM piece WHERE session = ?1
			AND number IN (SELECT value FROM json_each(?2)) ORDER BY number, until`,
		&q.last:  "SELECT until, data FROM piece WHERE session = ?1 AND number = 0 ORDER BY until DESC LIMIT 1",
		&q.usage: "SELECT count(*), coalesce(sum(bytes), 0) FROM session WHERE owner = ?1",
	})
	return err // the pool closes its statements itself
}
