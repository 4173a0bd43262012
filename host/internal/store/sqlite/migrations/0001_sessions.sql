-- Times are microseconds since 1970, by the clock of the machine.

CREATE TABLE session (
	id             INTEGER PRIMARY KEY AUTOINCREMENT, -- not used again, for readers in progress
	owner          TEXT    NOT NULL,
	name           TEXT    NOT NULL,
	revision       INTEGER NOT NULL,
	snapshot       INTEGER NOT NULL,
	fence          INTEGER NOT NULL,
	holder         TEXT    NOT NULL DEFAULT '',
	held_until     INTEGER NOT NULL DEFAULT 0,
	parent_owner   TEXT    NOT NULL,
	parent_name    TEXT    NOT NULL,
	forked_at      INTEGER NOT NULL,
	forked_entries INTEGER NOT NULL,
	created        INTEGER NOT NULL,
	used           INTEGER NOT NULL,
	entries        INTEGER NOT NULL,
	tokens         INTEGER NOT NULL,
	bytes          INTEGER NOT NULL,
	UNIQUE (owner, name)
) STRICT;

-- Records are in the file in the order in which they arrived. So those that share a commit share pages too, and pages
-- are filled up: next to their sessions' earlier records, they would take twice the writes.
CREATE TABLE record (
	id      INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES session (id),
	seq     INTEGER NOT NULL,
	kind    INTEGER NOT NULL,
	data    BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX record_place ON record (session, seq);

-- A large content is kept once for each owner, as long as a session refers to it.
CREATE TABLE content (
	id    INTEGER PRIMARY KEY,
	owner TEXT NOT NULL,
	hash  BLOB NOT NULL,
	data  BLOB NOT NULL,
	UNIQUE (owner, hash)
) STRICT;

CREATE TABLE refer (
	session INTEGER NOT NULL REFERENCES session (id),
	content INTEGER NOT NULL REFERENCES content (id),
	PRIMARY KEY (session, content)
) STRICT, WITHOUT ROWID;

CREATE INDEX refer_content ON refer (content);

-- The parts of sessions' indexes, in pieces: see package search. A search reads a few pieces of all parts, which are
-- next to each other.
CREATE TABLE piece (
	session INTEGER NOT NULL REFERENCES session (id),
	number  INTEGER NOT NULL,
	until   INTEGER NOT NULL,
	data    BLOB    NOT NULL,
	PRIMARY KEY (session, number, until)
) STRICT, WITHOUT ROWID;

CREATE TABLE access (
	name    TEXT    PRIMARY KEY,
	hash    BLOB    NOT NULL,
	created INTEGER NOT NULL,
	revoked INTEGER NOT NULL, -- 0 while the token is valid
	limits  BLOB    NOT NULL
) STRICT;

-- What the sessions of a name came to on a day; money in millionths of a US dollar.
CREATE TABLE account (
	name     TEXT NOT NULL,
	day      TEXT NOT NULL,
	spent    INTEGER NOT NULL,
	saved    INTEGER NOT NULL,
	requests INTEGER NOT NULL,
	whole    INTEGER NOT NULL,
	sent     INTEGER NOT NULL,
	PRIMARY KEY (name, day)
) STRICT, WITHOUT ROWID;

-- What hosts of this store must have in common and no one else may guess.
CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT;
