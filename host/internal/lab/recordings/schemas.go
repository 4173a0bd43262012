package recordings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// Which tables of a database hold sessions, and how one is put together from their rows. Columns are named only where
// all versions of the agent have them.

// schema is how an agent's database holds sessions.
type schema struct {
	agent string
	table string // a table that only this agent has
	// sessions are the columns id, dir and changed, in milliseconds, of the sessions that a person began.
	sessions string
	export   func(d *database, id string) (*export, error)
}

// Of these, the first whose table is there decides: each agent has a database of its own.
var schemas = []schema{
	{agent: "opencode", table: "part", export: exportOpenCode,
		sessions: `select id, directory as dir, time_updated as changed from session where parent_id is null`},
	{agent: "goose", table: "messages", export: exportGoose,
		sessions: `select id, working_dir as dir, strftime('%s', updated_at) * 1000 as changed from sessions s
			where exists (select 1 from messages m where m.session_id = s.id)`},
}

// schemaOf returns the schema of a database.
func (d *database) schemaOf() (*schema, error) {
	for i, s := range schemas {
		tables, err := d.rows(`select name from sqlite_master where type = 'table' and name = ?`, s.table)
		if err != nil {
			return nil, err
		}
		if len(tables) > 0 {
			return &schemas[i], nil
		}
	}
	return nil, errors.New("an SQLite database with no sessions of opencode or Goose")
}

// exportOpenCode puts a session together as "opencode export" prints it.
func exportOpenCode(d *database, id string) (*export, error) {
	// All columns, as versions differ in what they have.
	session, err := d.session(`select * from session where id = ?`, id)
	if err != nil {
		return nil, err
	}
	var e export
	// All parts in one query: one for each message would take seconds for a long session.
	parts := map[string][][]byte{}
	rows, err := d.rows(`select id, message_id, data from part where session_id = ? order by id`, id)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		// A part that is not whole leaves a gap, which is counted.
		parts[r["message_id"]] = append(parts[r["message_id"]], e.record([]byte(r["data"])))
	}
	rows, err = d.rows(`select id, data from message where session_id = ? order by time_created, id`, id)
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	for _, r := range rows {
		// The id is a column of its own.
		if about := e.record([]byte(r["data"])); bytes.HasPrefix(about, []byte(`{"`)) {
			messages = append(messages, fmt.Appendf(nil, `{"info":{"id":%s,%s,"parts":%s}`,
				quoted(r["id"]), about[1:], list(parts[r["id"]])))
		}
	}
	e.document = fmt.Appendf(nil, `{"info":{"id":%s,"directory":%s,"revert":%s},"messages":%s}`, quoted(id),
		quoted(session["directory"]), e.orNull(session["revert"]), list(messages))
	return &e, nil
}

// exportGoose puts a session together as "goose session export" prints it.
func exportGoose(d *database, id string) (*export, error) {
	session, err := d.session(`select * from sessions where id = ?`, id)
	if err != nil {
		return nil, err
	}
	rows, err := d.rows(`select * from messages where session_id = ? order by created_timestamp, id`, id)
	if err != nil {
		return nil, err
	}
	var e export
	var messages [][]byte
	for _, r := range rows {
		if said := e.record([]byte(r["content_json"])); said != nil {
			messages = append(messages, fmt.Appendf(nil, `{"role":%s,"created":%s,"content":%s,"metadata":%s}`,
				quoted(r["role"]), cmp.Or(r["created_timestamp"], "0"), said, e.orNull(r["metadata_json"])))
		}
	}
	e.document = fmt.Appendf(nil, `{"id":%s,"working_dir":%s,"model_config":%s,"conversation":%s}`, quoted(id),
		quoted(session["working_dir"]), e.orNull(session["model_config_json"]), list(messages))
	return &e, nil
}

// session returns the row of a session. Many columns may be NULL.
func (d *database) session(query, id string) (row, error) {
	found, err := d.rows(query, id)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the database has no session %q", id)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// orNull returns a record of which there may be none, as JSON.
func (e *export) orNull(raw string) []byte {
	if raw != "" {
		if whole := e.record([]byte(raw)); whole != nil {
			return whole
		}
	}
	return []byte("null")
}

// quoted returns text as JSON.
func quoted(text string) []byte {
	out, _ := json.Marshal(text) // no text is refused
	return out
}
