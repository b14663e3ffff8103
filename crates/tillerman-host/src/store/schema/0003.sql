-- A conversation belongs to whoever made it. Those that are there belong to the first owner, who keeps
-- that place for good, so that nobody else comes into what their agents remember.
INSERT OR IGNORE INTO choices (name, value)
    SELECT 'first_owner', json_quote(name) FROM users
    WHERE role = 'owner' ORDER BY created_at, rowid LIMIT 1;

ALTER TABLE conversations ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE conversations SET owner =
    coalesce((SELECT json_extract(value, '$') FROM choices WHERE name = 'first_owner'), 'owner');

-- Answers that no session took up while nothing waited for them are of no use any more.
UPDATE approvals SET told = 1
    WHERE delivered = 0 AND state IN ('allowed', 'denied', 'cancelled', 'expired')
    AND conversation_id IN (SELECT id FROM conversations WHERE state IN ('idle', 'failed'));
