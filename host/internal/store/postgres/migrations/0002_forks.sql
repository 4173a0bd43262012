-- How many entries the parent had where a session was forked from it.
ALTER TABLE thresh_session ADD COLUMN forked_entries bigint NOT NULL DEFAULT 0;
