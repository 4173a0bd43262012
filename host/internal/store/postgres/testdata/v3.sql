INSERT INTO thresh_session (owner, name, revision, snapshot, fence, parent_owner, parent_name, forked_at, forked_entries, entries, tokens,
	bytes) VALUES ('o', 'old', 2, 2, 99, '', '', 0, 0, 3, 4, 6);
INSERT INTO thresh_record (session, seq, kind, nonce, data)
	SELECT id, seq, kind, 5, data::bytea FROM thresh_session, (VALUES (1, 1, 'one'), (2, 4, 'two')) AS r (seq, kind, data);
