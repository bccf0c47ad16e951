-- A store as the first version left it: its tables, and two decisions. Number 2 was never given out.
PRAGMA journal_mode = WAL;
CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT;
CREATE TABLE record (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    id      TEXT NOT NULL UNIQUE,
    time_ms INTEGER NOT NULL,
    agent   TEXT,
    session TEXT,
    tool    TEXT NOT NULL,
    verdict TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX record_time ON record (time_ms);
CREATE INDEX record_session ON record (session, seq);
INSERT INTO migration VALUES (1, 1794731050000);
INSERT INTO record VALUES (1, '018f00000001-00000000000000aa', 1794731051000, 'claude-code', 's-1', 'bash_execute', 'deny',
    '{"id":"018f00000001-00000000000000aa","time_ms":1794731051000,"way_in":"hook claude-code","event":"PreToolUse","call_id":"toolu_01","actor":{"agent":"claude-code","session":"s-1"},"tool":"bash_execute","command":"git push --force","arguments":{"command":"git push --force"},"cwd":"/srv/app","workspace":"/srv/app","verdict":"deny","answer":"deny","reasons":[{"code":"no-force-push","text":"Force pushes rewrite shared history. Open a pull request.","layer":"preset developer","source":null}],"effects":[{"verb":"run","target":"/usr/bin/git","verdict":"deny"}],"policy":"7c1e9a0011223344","digest":"00ff","micros":321}');
INSERT INTO record VALUES (3, '018f00000002-00000000000000bb', 1794731052000, NULL, NULL, 'web_search', 'allow',
    '{"id":"018f00000002-00000000000000bb","time_ms":1794731052000,"way_in":"http","actor":{},"tool":"web_search","arguments":{"query":"it''s"},"verdict":"allow","answer":"allow","reasons":[],"effects":[],"policy":"7c1e9a0011223344","micros":12}');
