package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// gooseTables are what is known of the tables of goose. Columns are named only where all versions have them.
var gooseTables = tables{
	agent: "goose", has: [2]string{"messages", "content_json"}, export: exportGoose,
	sessions: `select *, working_dir as dir, unixepoch(updated_at) * 1000 as changed from sessions
 where exists (select 1 from messages where session_id = sessions.id)`,
}

// exportGoose puts a session together as "goose session export --format json" prints it, with its ledger of usage,
// which older versions do not have.
func exportGoose(d *database, id string) (*export, error) {
	session, err := d.session(`select * from sessions where id = ?`, id)
	if err != nil {
		return nil, err
	}
	var e export
	rows, err := d.rows(`select * from messages where session_id = ? order by created_timestamp, id`, id)
	if err != nil {
		return nil, err
	}
	var messages [][]byte
	for _, r := range rows {
		if content := e.record([]byte(r["content_json"])); content != nil {
			messages = append(messages, fmt.Appendf(nil, `{"id":%s,"role":%s,"created":%s,"content":%s,"metadata":%s}`,
				quoted(r["message_id"]), quoted(r["role"]), number(r["created_timestamp"]), content,
				e.orNull(r["metadata_json"])))
		}
	}
	ledger, err := d.ledger(id)
	if err != nil {
		return nil, err
	}
	e.document = fmt.Appendf(nil, `{"id":%s,"working_dir":%s,"model_config":%s,"usage_ledger":%s,"conversation":%s}`,
		quoted(id), quoted(session["working_dir"]), e.orNull(session["model_config_json"]), ledger, list(messages))
	return &e, nil
}

// ledger returns what was counted of each request, as a list; null if this version of goose keeps none.
func (d *database) ledger(id string) ([]byte, error) {
	tables, err := d.rows(`select name from sqlite_master where type = 'table' and name = 'usage_ledger'`)
	if err != nil || len(tables) == 0 {
		return []byte("null"), err
	}
	rows, err := d.rows(`select * from usage_ledger where session_id = ? order by id`, id)
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, r := range rows {
		line := fmt.Appendf(nil, `{"model":%s,"cost_source":%s`, quoted(r["model"]), quoted(r["cost_source"]))
		for _, name := range []string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost",
			"is_compaction"} {
			line = fmt.Appendf(line, `,%q:%s`, name, number(r[name]))
		}
		out = append(out, append(line, '}'))
	}
	return list(out), nil
}

// number returns a column with a number as JSON.
func number(text string) []byte {
	if n := bytes.TrimSpace([]byte(text)); len(n) > 0 && json.Valid(n) {
		return n
	}
	return []byte("null")
}
