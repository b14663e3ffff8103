CREATE TABLE conversations (
    id              TEXT PRIMARY KEY,
    title           TEXT NOT NULL DEFAULT '',
    titled_by       TEXT NOT NULL DEFAULT 'nobody',
    project_id      TEXT,
    cwd             TEXT NOT NULL,
    model           TEXT,
    permission_mode TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    archived        INTEGER NOT NULL DEFAULT 0,
    session_id      TEXT,
    session_begun   INTEGER NOT NULL DEFAULT 0,
    session_cost    REAL NOT NULL DEFAULT 0,
    state           TEXT NOT NULL DEFAULT 'idle',
    cost_usd        REAL NOT NULL DEFAULT 0,
    last_text       TEXT NOT NULL DEFAULT '',
    last_seq        INTEGER NOT NULL DEFAULT 0,
    outages         INTEGER NOT NULL DEFAULT 0,
    drops_message   TEXT
) STRICT;
CREATE INDEX conversations_by_time ON conversations (archived, updated_at DESC, id);

CREATE TABLE events (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    seq             INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    body            TEXT NOT NULL,
    PRIMARY KEY (conversation_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    client_id       TEXT NOT NULL,
    number          INTEGER NOT NULL,
    author          TEXT NOT NULL,
    text            TEXT NOT NULL,
    attachments     TEXT NOT NULL,
    state           TEXT NOT NULL,
    position        INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    UNIQUE (conversation_id, client_id)
) STRICT;
CREATE INDEX messages_waiting ON messages (conversation_id, state, number);

CREATE TABLE approvals (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    session_id      TEXT NOT NULL,
    tool_use_id     TEXT NOT NULL,
    input_hash      TEXT NOT NULL,
    state           TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    delivered       INTEGER NOT NULL DEFAULT 0,
    answer          TEXT,
    body            TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_by_conversation ON approvals (conversation_id, created_at);
CREATE INDEX approvals_pending ON approvals (state, expires_at);

CREATE TABLE documents (
    kind       TEXT NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    id                INTEGER PRIMARY KEY,
    conversation_id   TEXT NOT NULL,
    project_id        TEXT,
    session_id        TEXT NOT NULL,
    message_id        TEXT,
    model             TEXT NOT NULL,
    at                INTEGER NOT NULL,
    date              TEXT NOT NULL,
    cost_usd          REAL NOT NULL,
    input_tokens      INTEGER NOT NULL,
    output_tokens     INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_date ON usage (date, project_id);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    user    TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;

CREATE TABLE users (
    name       TEXT PRIMARY KEY,
    role       TEXT NOT NULL,
    token_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE logins (
    cookie_hash BLOB PRIMARY KEY,
    user        TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE choices (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE words USING fts5 (
    text, conversation_id UNINDEXED, seq UNINDEXED, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER conversations_forgotten AFTER DELETE ON conversations BEGIN
    DELETE FROM words WHERE conversation_id = old.id;
END;
