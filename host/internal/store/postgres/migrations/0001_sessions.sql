-- All times are the database's: hosts may disagree about theirs.

-- A session's row is written with every append. Nothing that changes then has an index, and pages are not filled up, so
-- that the new row finds room next to the old one.
CREATE TABLE thresh_session (
	id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	owner          text        COLLATE "C" NOT NULL,
	name           text        COLLATE "C" NOT NULL,
	revision       bigint      NOT NULL DEFAULT 0,
	snapshot       bigint      NOT NULL DEFAULT 0,
	fence          bigint      NOT NULL,
	holder         text        NOT NULL DEFAULT '',
	held_until     timestamptz NOT NULL DEFAULT 'epoch',
	parent_owner   text        NOT NULL,
	parent_name    text        NOT NULL,
	forked_at      bigint      NOT NULL,
	forked_entries bigint      NOT NULL,
	created        timestamptz NOT NULL DEFAULT clock_timestamp(),
	used           timestamptz NOT NULL DEFAULT clock_timestamp(),
	entries        bigint      NOT NULL DEFAULT 0,
	tokens         bigint      NOT NULL DEFAULT 0,
	bytes          bigint      NOT NULL DEFAULT 0,
	UNIQUE (owner, name)
) WITH (fillfactor = 70);

-- The nonce is the append's: it tells a host whose connection broke whether its append was committed.
CREATE TABLE thresh_record (
	session bigint   NOT NULL REFERENCES thresh_session ON DELETE CASCADE,
	seq     bigint   NOT NULL,
	kind    smallint NOT NULL,
	nonce   bigint   NOT NULL,
	data    bytea    NOT NULL,
	PRIMARY KEY (session, seq)
);

-- A large content is kept once for each owner, as long as a session refers to it.
CREATE TABLE thresh_content (
	owner text  COLLATE "C" NOT NULL,
	hash  bytea NOT NULL,
	data  bytea NOT NULL,
	PRIMARY KEY (owner, hash)
);

CREATE TABLE thresh_refer (
	session bigint NOT NULL REFERENCES thresh_session ON DELETE CASCADE,
	owner   text   COLLATE "C" NOT NULL,
	hash    bytea  NOT NULL,
	PRIMARY KEY (session, hash),
	FOREIGN KEY (owner, hash) REFERENCES thresh_content
);

CREATE INDEX thresh_refer_content ON thresh_refer (owner, hash);

-- The parts of sessions' indexes, in pieces: see package search. A search reads a few pieces of all parts.
CREATE TABLE thresh_piece (
	session bigint   NOT NULL REFERENCES thresh_session ON DELETE CASCADE,
	until   bigint   NOT NULL,
	number  smallint NOT NULL,
	data    bytea    NOT NULL,
	PRIMARY KEY (session, number, until)
);

CREATE TABLE thresh_access (
	name    text        COLLATE "C" PRIMARY KEY,
	hash    bytea       NOT NULL,
	created timestamptz NOT NULL DEFAULT clock_timestamp(),
	revoked timestamptz,
	limits  bytea       NOT NULL
);

-- What the sessions of a name came to on a day; money in millionths of a US dollar.
CREATE TABLE thresh_account (
	name     text COLLATE "C" NOT NULL,
	day      text COLLATE "C" NOT NULL,
	spent    bigint NOT NULL,
	saved    bigint NOT NULL,
	requests bigint NOT NULL,
	whole    bigint NOT NULL,
	sent     bigint NOT NULL,
	PRIMARY KEY (name, day)
);

-- What hosts of this store must have in common and no one else may guess.
CREATE TABLE thresh_secret (
	name  text  PRIMARY KEY,
	value bytea NOT NULL
);
