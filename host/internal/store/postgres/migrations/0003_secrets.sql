-- What hosts of this store must have in common and no one else may guess.
CREATE TABLE thresh_secret (
	name  text PRIMARY KEY,
	value bytea NOT NULL
);
