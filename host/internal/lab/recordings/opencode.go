package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// openCodeTables are what is known of the tables of opencode, which kilo has too. Columns are named only where all
// versions have them.
var openCodeTables = tables{
	agent: "opencode", has: [2]string{"part", "message_id"}, export: exportOpenCode,
	sessions: `select id, directory as dir, time_updated as changed from session where parent_id is null`,
}

// exportOpenCode puts a session together as "opencode export" prints it.
func exportOpenCode(d *database, id string) (*export, error) {
	// All columns, as versions differ in what they have. Many may be NULL.
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

// orNull returns a record of which there may be none, as JSON.
func (e *export) orNull(raw string) []byte {
	if raw != "" {
		if whole := e.record([]byte(raw)); whole != nil {
			return whole
		}
	}
	return []byte("null")
}

func quoted(text string) []byte {
	out, _ := json.Marshal(text) // no text is refused
	return out
}
