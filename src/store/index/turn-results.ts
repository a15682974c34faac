import type { DatabaseSync } from 'node:sqlite'
import type { Entry, EntryOf, FileChange } from '../../core/talk/entry.ts'
import type { FailureKind } from '../../core/talk/outcome.ts'
import { isAgent } from '../../core/talk/judgement.ts'
import { exitOf, isTestRun } from '../../core/work/test-run.ts'

/**
 * How the index knows whether a turn went well: from a source of judgements, the tests that the turn itself ran, the failed attempt of an
 * agent, or the end of the turn.
 */
export type ResultSource = EntryOf<'judgement'>['source'] | 'tests' | 'attempt' | 'end'

/** The priority of each source: a person knows best, and a turn that failed has failed whatever a check says. */
const strengths: Record<ResultSource, number> = {
  person: 8,
  undo: 7,
  correction: 6,
  end: 5,
  race: 4,
  check: 3,
  tests: 2,
  attempt: 1,
}

/** The failures of a turn that was stopped: they say nothing about its work. */
const stopped: ReadonlySet<FailureKind> = new Set(['aborted', 'unfinished'])

/** Failures that say nothing about the work of an agent: it could not begin, or was not allowed to act. */
const unable: readonly FailureKind[] = ['quota', 'busy', 'auth', 'missing', 'denied']

/** Stores what the entries of a project say about its turns. Entries of another version may lack any field. */
export function turnRows(db: DatabaseSync, project: string): { keep(entry: Entry): void } {
  const begin = db.prepare('INSERT OR IGNORE INTO turns (project, turn, session, began) VALUES (?, ?, ?, ?)')
  const answer = db.prepare('UPDATE turns SET by = ? WHERE project = ? AND turn = ?')
  const end = db.prepare('UPDATE turns SET ended = ?, how = ? WHERE project = ? AND turn = ? AND ended IS NULL')
  const lose = db.prepare('UPDATE turns SET lost = lost + ? WHERE project = ? AND turn = ?')
  const change = db.prepare('UPDATE turns SET changed = 1, testing = NULL WHERE project = ? AND turn = ?')
  const test = db.prepare('UPDATE turns SET testing = ? WHERE project = ? AND turn = ? AND changed = 1')
  const tests = db.prepare('SELECT 1 FROM turns WHERE project = ? AND turn = ? AND testing = ?')
  const into = db.prepare(
    'INSERT INTO judgements (project, turn, at, agent, source, strength, good, kind, cost, ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  type Said = { agent?: string; good?: boolean; kind?: string; cost?: number; ms?: number }
  const judge = ({ turn, at }: Entry, source: ResultSource, { agent, good, kind, cost, ms }: Said) => {
    const strength = strengths[source] ?? 0
    const bit = good === undefined ? null : Number(good)
    into.run(project, turn, at, agent ?? null, source, strength, bit, kind ?? null, cost ?? null, ms ?? null)
  }
  return {
    keep(entry) {
      const { turn, by, at } = entry
      if (turn === '') return
      switch (entry.type) {
        case 'prompt':
          begin.run(project, turn, entry.session, at)
          return
        case 'reply':
          if (isAgent(by)) answer.run(by, project, turn)
          return
        case 'call': {
          const { command } = (entry.input ?? {}) as { command?: unknown }
          if (isAgent(by) && typeof command === 'string' && isTestRun(command)) test.run(entry.call, project, turn)
          return
        }
        case 'result': {
          // Tests that ran before the last change say nothing about the present work.
          if (changesFiles(entry.data)) {
            change.run(project, turn)
            judge(entry, 'tests', {})
          }
          const exit = exitOf(entry.data)
          if (exit === undefined || !tests.get(project, turn, entry.call)) return
          judge(entry, 'tests', { good: exit === 0 })
          return
        }
        case 'verdict':
          begin.run(project, turn, entry.session, at)
          // The verdict is signed by the agent that acted.
          if (isAgent(by)) answer.run(by, project, turn)
          if (entry.passed !== undefined)
            judge(entry, 'check', { agent: isAgent(by) ? by : undefined, good: entry.passed })
          return
        case 'attempt': {
          lose.run(entry.ms ?? 0, project, turn)
          const kind = entry.failure?.kind
          if (isAgent(by) && !unable.includes(kind) && !stopped.has(kind))
            judge(entry, 'attempt', { agent: by, good: false, ms: entry.ms })
          return
        }
        case 'judgement':
          // A judgement may be the only known entry of a turn.
          begin.run(project, turn, entry.session, at)
          judge(entry, entry.source, entry)
          return
        case 'end': {
          const { outcome } = entry
          const kind = outcome?.ok === false ? outcome.failure?.kind : undefined
          end.run(at, kind ?? (outcome?.ok === true && outcome.refused ? 'refused' : 'answered'), project, turn)
          if (kind !== undefined && !stopped.has(kind)) judge(entry, 'end', { good: false })
        }
      }
    },
  }
}

function changesFiles(data: unknown): boolean {
  return Array.isArray(data) && data.some((one: Partial<FileChange> | null) => typeof one?.path === 'string')
}

/**
 * The result of one agent's work in one turn. Without `good`, the turn was answered, but nobody has judged or checked it. `framework` and
 * `why`: how thinking classified the request; `kind`: the label from a judgement. `cost` is missing if a part of it is not known.
 */
export type TurnResult = {
  project: string
  turn: string
  agent: string
  at: number
  good?: boolean
  source?: ResultSource
  ms?: number
  cost?: number
  prompt?: string
  framework?: string
  why?: string
  kind?: string
}

/** How many characters of a prompt are read to determine its kind. */
const longestPrompt = 4_000

/**
 * The judgement that counts for each turn and agent, among the rows of a table of judgements: the newest of each source, and of these the
 * strongest. A row without an agent refers to the agent that answered the turn.
 */
export const countedJudgements = (judgements: string): string => `
  SELECT project, turn, agent, at, source, good, kind, cost, ms FROM (
    SELECT *, row_number() OVER (PARTITION BY project, turn, agent ORDER BY strength DESC, seq DESC) AS place FROM (
      SELECT j.seq, j.project, j.turn, coalesce(j.agent, t.by) AS agent, j.at, j.source, j.strength, j.good, j.kind, j.cost, j.ms,
        row_number() OVER (PARTITION BY j.project, j.turn, coalesce(j.agent, t.by), j.source ORDER BY j.seq DESC) AS age
      FROM ${judgements} j JOIN turns t ON t.project = j.project AND t.turn = j.turn
      WHERE NOT (j.source = 'attempt' AND j.agent IS t.by)
    ) WHERE age = 1 AND good IS NOT NULL AND agent IS NOT NULL
  ) WHERE place = 1
`

const results = (where: string) => `
  WITH recent AS (SELECT * FROM turns ${where} ORDER BY began DESC LIMIT :most),
  said AS (SELECT j.* FROM recent r CROSS JOIN judgements j ON j.project = r.project AND j.turn = r.turn),
  counted AS (${countedJudgements('said')}),
  found AS (
    SELECT r.*, c.agent, c.good, c.source, c.kind, c.cost, c.ms
    FROM recent r JOIN counted c ON c.project = r.project AND c.turn = r.turn
    WHERE NOT (c.source = 'end' AND r.how IN (${unable.map((kind) => `'${kind}'`).join(', ')}))
    UNION ALL
    SELECT r.*, r.by, iif(r.how = 'refused', 0, NULL), iif(r.how = 'refused', 'end', NULL), NULL, NULL, NULL
    FROM recent r LEFT JOIN counted c ON c.project = r.project AND c.turn = r.turn AND c.agent = r.by
    WHERE r.how IN ('answered', 'refused') AND r.by IS NOT NULL AND c.agent IS NULL
  )
  SELECT f.project, f.turn, f.agent, f.began AS at, f.good, f.source,
    coalesce(f.ms, iif(f.agent = f.by, max(0, f.ended - f.began - f.lost), NULL)) AS ms,
    coalesce(f.cost, (
      SELECT iif(count(*) = count(cost), sum(cost), NULL) FROM usage u
      WHERE u.project = f.project AND u.turn = f.turn AND u.by = f.agent
    )) AS cost,
    (
      SELECT substr(text, 1, ${longestPrompt}) FROM entries e
      WHERE e.session = f.session AND e.turn = f.turn AND e.type = 'prompt' LIMIT 1
    ) AS prompt,
    v.framework, v.why, f.kind
  FROM found f LEFT JOIN verdicts v ON v.session = f.session AND v.turn = f.turn
  ORDER BY f.began DESC, f.turn DESC, f.agent
`

/** Selects turns: of one project, or of all but one, and of these the newest `most`. */
export type ResultsOf = { project?: string; except?: string; most?: number }

/** Returns the results of turns, newest first. */
export function turnResults(db: DatabaseSync, { project, except, most = 1_000 }: ResultsOf = {}): TurnResult[] {
  const one = project ?? except
  const where = one === undefined ? '' : project === undefined ? 'WHERE project != :one' : 'WHERE project = :one'
  const rows = db.prepare(results(where)).all(one === undefined ? { most } : { one, most })
  return rows.map((row) => {
    const known = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
    return ('good' in known ? { ...known, good: known.good === 1 } : known) as TurnResult
  })
}
