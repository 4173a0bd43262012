-- How many entries the parent had where a session was forked from it.
ALTER TABLE session ADD COLUMN forked_entries INTEGER NOT NULL DEFAULT 0;
