package recordings

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// A database of sessions belongs to an agent that may be running. It is only read, and left as it was. What is known of
// the tables is in opencode.go and goose.go.

// tables are those of one agent.
type tables struct {
	agent string
	has   [2]string // a table with a column that no other agent has
	// sessions finds the sessions that a person began: their id, dir, and in changed when they changed last, in
	// milliseconds since 1970.
	sessions string
	export   func(*database, string) (*export, error)
}

var knownTables = []tables{openCodeTables, gooseTables}

// isDatabase reports whether a file is an SQLite database.
func isDatabase(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // opening a pipe would wait
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	head := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == sqliteMagic
}

// sqliteMagic begins every SQLite database.
const sqliteMagic = "SQLite format 3\x00"

// inDatabase parts a path into that of a database and the id of a session in it, "" for none. ok is false for the path
// of anything else. The id follows a "#", so one argument names a session; a file whose name holds a "#" is found
// first.
func inDatabase(path string) (file, id string, ok bool) {
	if _, err := os.Stat(path); err == nil {
		return path, "", isDatabase(path)
	}
	if at := strings.LastIndexByte(path, '#'); at > 0 && isDatabase(path[:at]) {
		return path[:at], path[at+1:], true
	}
	return "", "", false
}

type database struct {
	*sql.DB
	tables
	path string
	temp string // a copy's directory, to be removed; "" for none
}

// openDatabase opens a database of sessions so that nothing in its directory is created or removed, and neither it nor
// its log is written.
//
//   - Without a log (-wal), all is in the file, which is read as one that does not change.
//   - With a log and its index (-shm), an agent may be writing. It is read as SQLite's other readers do, with locks.
//   - With a log alone, reading would create the index. That is a copy, or was left by a crash, so a copy of both
//     is read.
func openDatabase(name string) (*database, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	d, mode := database{path: name}, "mode=ro"
	// immutable keeps SQLite from looking for a log and from taking locks, for which it may create files.
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		mode = "mode=ro&immutable=1"
	} else if _, err := os.Stat(path + "-shm"); err != nil {
		if d.temp, err = os.MkdirTemp("", "thresh-sessions-"); err != nil {
			return nil, err
		}
		copied := filepath.Join(d.temp, "sessions.db")
		if err := errors.Join(copyFile(copied, path), copyFile(copied+"-wal", path+"-wal")); err != nil {
			_ = os.RemoveAll(d.temp)
			return nil, err
		}
		path = copied
	}
	// An agent that writes holds its lock for moments; a person waits two seconds at most.
	if d.DB, err = sql.Open("sqlite", dataSource(path, mode+"&_pragma=busy_timeout(2000)")); err == nil {
		err = d.recognise()
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return &d, nil
}

// recognise finds out whose tables the database has.
func (d *database) recognise() error {
	for _, t := range knownTables {
		rows, err := d.rows(`select name from pragma_table_info(?) where name = ?`, t.has[0], t.has[1])
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			d.tables = t
			return nil
		}
	}
	if name := unreadAgent(d.path); name != "" {
		return errors.New("a database of " + name + ", for which there is no reader")
	}
	return errors.New("an SQLite database with no sessions of opencode, kilo or goose")
}

// dataSource returns the name of a database for the driver. The path may hold any character.
func dataSource(path, query string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query}).String()
}

func (d *database) close() {
	if d.DB != nil {
		_ = d.Close() // nothing was written
	}
	if d.temp != "" {
		_ = os.RemoveAll(d.temp)
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // nothing was written
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// row is a row of a table by the names of its columns, which differ between versions of an agent. NULL is "". Rows of a
// session fit into memory: they become one document anyway.
type row map[string]string

// session returns the one row that a query has for the id of a session.
func (d *database) session(query, id string) (row, error) {
	rows, err := d.rows(query, id)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("the database has no session %q", id)
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

func (d *database) rows(query string, args ...any) (out []row, err error) {
	found, err := d.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	names, err := found.Columns()
	if err != nil {
		return nil, err
	}
	for found.Next() {
		// As text, whatever the type: what is JSON is checked where it is put together.
		values := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		r := row{}
		for i, name := range names {
			r[name] = values[i].String
		}
		out = append(out, r)
	}
	return out, found.Err()
}

// exportFrom puts the session with an id together.
func exportFrom(path, id string) (*export, error) {
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if id == "" {
		found, err := d.found()
		if err != nil || len(found) == 0 {
			return nil, cmp.Or(err, errors.New("the database holds no sessions"))
		}
		return nil, fmt.Errorf("the database holds %d sessions; name one, such as the newest: '%s'", len(found),
			found[0].Path)
	}
	return d.export(d, id)
}

func sessionsIn(path string) ([]Found, error) {
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.found()
}

func (d *database) found() ([]Found, error) {
	rows, err := d.rows(d.sessions)
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, r := range rows {
		if r["session_type"] == "sub_agent" {
			continue
		}
		changed, _ := strconv.ParseInt(r["changed"], 10, 64) // 0 is the oldest
		out = append(out, Found{Path: d.path + "#" + r["id"], Agent: d.agent, Changed: time.UnixMilli(changed),
			dir: r["dir"]})
	}
	sortNewest(out)
	return out, nil
}
