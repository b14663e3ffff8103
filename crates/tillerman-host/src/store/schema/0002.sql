-- Files of messages outlive their messages' way through a run, so that people can look at them again.
CREATE TABLE attachments (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (message_id, place)
) STRICT;

-- A session is told once of an answer that it cannot be handed any more.
ALTER TABLE approvals ADD COLUMN told INTEGER NOT NULL DEFAULT 0;

-- Where a document was read from; one that people made in the page has no path.
ALTER TABLE documents ADD COLUMN path TEXT;
