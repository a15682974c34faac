import type { DatabaseSync } from 'node:sqlite'
import type { StoreVoice } from '../set-aside.ts'
import { rmSync } from 'node:fs'
import { besideDatabase, setAside } from '../set-aside.ts'
import { immediately, isDamaged, isUnwritable, openDatabase, patiently, temporaryDatabase } from '../sqlite.ts'
import { storeError } from '../store-error.ts'

/** The database of the index. All of its data is also in the logs, so a damaged file is set aside and a new one is filled. */
export class Database {
  #path: string
  #voice: StoreVoice
  #refill: (db: DatabaseSync) => Promise<unknown>
  #open: Promise<DatabaseSync> | undefined

  constructor(path: string, voice: StoreVoice, refill: (db: DatabaseSync) => Promise<unknown>) {
    this.#path = path
    this.#voice = voice
    this.#refill = refill
  }

  /** Runs `work` on the database, and again on a new file if this one turns out to be damaged. */
  async use<T>(work: (db: DatabaseSync) => T | Promise<T>): Promise<T> {
    let isStale: boolean
    try {
      return await this.#try(work)
    } catch (error) {
      isStale = error instanceof Stale
      if (!isStale && !isDamaged(error, this.#path)) throw storeError('use', this.#path, error)
    }
    try {
      await this.#throwAway(isStale)
      await this.#try(this.#refill)
      return await this.#try(work)
    } catch (error) {
      throw storeError('use', this.#path, error)
    }
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.then(
      (db) => db.close(),
      () => {},
    )
  }

  async #try<T>(work: (db: DatabaseSync) => T | Promise<T>): Promise<T> {
    this.#open ??= this.#start().catch((error) => {
      if (isUnwritable(error) && !isDamaged(error, this.#path)) return this.#startElsewhere()
      this.#open = undefined
      throw error
    })
    const db = await this.#open
    return await patiently(this.#voice.clock, () => work(db))
  }

  async #start(): Promise<DatabaseSync> {
    const db = openDatabase(this.#path)
    try {
      // A power cut may lose the latest entries; they are still in the logs.
      await patiently(this.#voice.clock, () => db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL'))
      if (!(await immediately(db, this.#voice.clock, () => prepare(db)))) throw new Stale()
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** For a home that can only be read, makes the index in a temporary file, from all of the home's logs. */
  async #startElsewhere(): Promise<DatabaseSync> {
    const db = temporaryDatabase()
    prepare(db)
    await this.#refill(db)
    return db
  }

  /** Deletes a file of another version; a damaged file is set aside instead, because nobody knows its content. */
  async #throwAway(isStale: boolean): Promise<void> {
    await this.close()
    if (!isStale) return setAside(this.#path, this.#voice, besideDatabase)
    for (const ending of besideDatabase) rmSync(`${this.#path}${ending}`, { force: true })
  }
}

class Stale extends Error {}

/**
 * Increased with every change of the tables. The sqlite3 of Debian 12 (3.40) must support their statements too. A file of another version
 * is deleted and made again from the logs.
 */
const version = 11

const wordsOut = `
  CREATE TRIGGER words_out AFTER DELETE ON entries WHEN old.text IS NOT NULL BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.seq, old.text);
  END;
`

const tables = `
  CREATE TABLE logs (
    project TEXT PRIMARY KEY,
    path TEXT,
    offset INTEGER NOT NULL DEFAULT 0,
    mark BLOB
  ) WITHOUT ROWID;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT,
    started INTEGER NOT NULL,
    last INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    first TEXT,
    begins INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    -- An imported session has a log of its own; its project may have no other.
    log TEXT,
    cli TEXT,
    path TEXT
  ) WITHOUT ROWID;
  CREATE INDEX sessions_of_project ON sessions (project);

  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    type TEXT NOT NULL,
    text TEXT,
    call TEXT,
    tool TEXT,
    ok INTEGER
  );
  CREATE INDEX entries_of_session ON entries (session, turn, call);
  CREATE INDEX entries_of_project ON entries (project);
  CREATE INDEX entries_of_threads ON entries (session, turn) WHERE type = 'thread';

  CREATE VIRTUAL TABLE words USING fts5 (text, content = 'entries', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2');
  CREATE TRIGGER words_in AFTER INSERT ON entries WHEN new.text IS NOT NULL BEGIN
    INSERT INTO words (rowid, text) VALUES (new.seq, new.text);
  END;
  ${wordsOut}

  -- The system prompts of our own agent, which are no words of the conversation that a search should find.
  CREATE TABLE system_prompts (seq INTEGER PRIMARY KEY, text TEXT NOT NULL);
  CREATE TRIGGER system_out AFTER DELETE ON entries WHEN old.type = 'frame' BEGIN
    DELETE FROM system_prompts WHERE seq = old.seq;
  END;

  CREATE TABLE usage (
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    cost REAL,
    source TEXT NOT NULL
  );
  CREATE INDEX usage_of_turn ON usage (project, turn);

  -- How a turn was thought through. A turn has one row: the last verdict is about the whole turn.
  CREATE TABLE verdicts (
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    project TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    framework TEXT NOT NULL,
    why TEXT NOT NULL,
    calls INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
  ) WITHOUT ROWID;
  CREATE INDEX verdicts_of_project ON verdicts (project);

  -- Every turn: who answered it, and how it ended ('answered', 'refused' or the kind of its failure).
  CREATE TABLE turns (
    project TEXT NOT NULL,
    turn TEXT NOT NULL,
    session TEXT NOT NULL,
    began INTEGER NOT NULL,
    ended INTEGER,
    by TEXT,
    how TEXT,
    -- The time that failed attempts of other agents took.
    lost INTEGER NOT NULL DEFAULT 0,
    -- Whether a tool changed a file, and the call that has run the tests since.
    changed INTEGER NOT NULL DEFAULT 0,
    testing TEXT,
    PRIMARY KEY (project, turn)
  ) WITHOUT ROWID;
  CREATE INDEX turns_by_time ON turns (began);
  CREATE INDEX turns_of_project ON turns (project, began);

  -- What is known of the work of a turn, by its source; a row without "good" takes back the one before. A row without an agent is about the agent that answered the turn.
  CREATE TABLE judgements (
    seq INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    agent TEXT,
    source TEXT NOT NULL,
    strength INTEGER NOT NULL,
    good INTEGER,
    kind TEXT,
    cost REAL,
    ms INTEGER
  );
  CREATE INDEX judgements_of_turn ON judgements (project, turn);

  -- When an agent was found to be out of quota, and until when.
  CREATE TABLE parkings (
    project TEXT NOT NULL,
    at INTEGER NOT NULL,
    agent TEXT NOT NULL,
    until INTEGER NOT NULL
  );
  CREATE INDEX parkings_by_time ON parkings (until);

  -- The sessions as other programs read them: numbered in their order, each with its messages in OpenAI's form.
  CREATE VIEW session_history AS
  SELECT
    row_number() OVER (ORDER BY started, id) AS id,
    id AS session,
    name,
    strftime('%Y-%m-%dT%H:%M:%fZ', started / 1000.0, 'unixepoch') AS timestamp,
    (
      SELECT json_group_array(json(message))
      FROM (
        SELECT
          CASE
            WHEN type = 'call' THEN json_object(
              'role', 'assistant', 'content', '', 'by', by, 'at', at,
              'tool_calls', json_array(json_object(
                'id', call, 'type', 'function', 'function', json_object('name', tool, 'arguments', text)
              ))
            )
            WHEN type = 'result' THEN json_object(
              'role', 'tool', 'content', coalesce(text, ''), 'by', by, 'at', at, 'tool_call_id', call
            )
            ELSE json_object(
              'role', CASE
                WHEN type IN ('reply', 'words') THEN 'assistant'
                WHEN type IN ('frame', 'guide', 'summary') THEN 'system'
                ELSE 'user'
              END,
              'content', coalesce(text, (SELECT system_prompts.text FROM system_prompts WHERE seq = entries.seq), ''),
              'by', by, 'at', at
            )
          END AS message
        FROM entries
        WHERE
          session = sessions.id
          AND (
            type IN ('prompt', 'steer', 'reply', 'words', 'output', 'guide', 'summary')
            OR type = 'frame' AND seq IN (SELECT seq FROM system_prompts)
            -- The output of a command that the person ran is a message of theirs already.
            OR type IN ('call', 'result') AND by <> 'user'
          )
        -- A system prompt is kept behind the first prompt of its session, and is the first message of every request.
        ORDER BY type <> 'frame', seq
      )
    ) AS chat_history
  FROM sessions;
`

/** Creates the tables in an empty file. Returns false for a file of another version. */
function prepare(db: DatabaseSync): boolean {
  const found = Number(db.prepare('PRAGMA user_version').get()!.user_version)
  if (found === version) return true
  if (db.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined) return false
  db.exec(`${tables} PRAGMA user_version = ${version}`)
  return true
}

/** Empties the index in one step. Deleting row by row, with all search words, would take as long as filling the index. */
export function empty(db: DatabaseSync): void {
  db.exec(`
    DROP TRIGGER words_out;
    DELETE FROM entries;
    DELETE FROM system_prompts;
    INSERT INTO words (words) VALUES ('delete-all');
    DELETE FROM usage;
    DELETE FROM verdicts;
    DELETE FROM turns;
    DELETE FROM judgements;
    DELETE FROM parkings;
    DELETE FROM sessions;
    DELETE FROM logs;
    ${wordsOut}
  `)
}
