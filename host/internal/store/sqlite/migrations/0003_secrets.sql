-- What hosts of this store must have in common and no one else may guess.
CREATE TABLE secret (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT;
