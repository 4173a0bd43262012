INSERT INTO session (id, owner, name, revision, snapshot, fence, parent_owner, parent_name, forked_at, forked_entries,
	created, used,
	entries, tokens, bytes) VALUES (7, 'o', 'old', 2, 2, 99, '', '', 0, 0, 1800000000000000, 1800000001000000, 3, 4, 6);
INSERT INTO record (session, seq, kind, data) VALUES (7, 1, 1, x'6f6e65'), (7, 2, 4, x'74776f');
