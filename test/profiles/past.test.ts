import type { PastFact } from '../../src/core/profile/past-session.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { profileNamed } from '../../src/profiles/all.ts'
import { opencodeDatabase } from './opencode-database.ts'
import { longAnswer } from '../real/scenes.ts'

const journals = join(import.meta.dirname, '..', 'fixtures', 'journals')

const uuid = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

/** The path of each recording below the folder of its CLI, as the CLI named it. */
const names: Record<string, string> = {
  claude: `-rig-project/${uuid(1)}.jsonl`,
  codex: `2026/11/15/rollout-2026-11-15T12-00-00-${uuid(2)}.jsonl`,
  gemini: 'project/chats/session-2026-11-15T12-00.jsonl',
  qwen: `-rig-project/chats/${uuid(2)}.jsonl`,
  copilot: `${uuid(1)}/events.jsonl`,
}

function factsOf(cli: string): PastFact[] {
  const read = profileNamed(cli)!.past!.reader(names[cli]!)
  const lines = readFileSync(join(journals, `${cli}.jsonl`), 'utf8')
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => read(JSON.parse(line)))
}

/** A fact in the fewest words; `calls` have names of each CLI's own. */
function short(fact: PastFact): string {
  switch (fact.type) {
    case 'call':
      return 'call'
    case 'result':
      return `result ${fact.ok}`
    case 'usage':
      return `usage ${fact.input} ${fact.cached} ${fact.output}${fact.beside ? ' beside' : ''}`
    case 'stop':
      return `stop ${fact.by}`
    case 'session':
      return 'session'
    default:
      return `${fact.type} ${fact.text}`
  }
}

const used = 'usage 1200 1000 34'
const hang = 'prompt please scene:hang now\nline two\nline three\nline four\nline five\nline six'

/** The same five turns in every CLI: stopped, answered after a call, declined, long, failed. Not all of it is recorded by each. */
type Recorded = { stopped: boolean; declined: boolean; cancelled: boolean; memory?: true }

const turns = ({ stopped, declined, cancelled, memory }: Recorded) => [
  [hang, ...(stopped ? ['stop person'] : [])],
  [
    'prompt please scene:shell now',
    'reply I will make it.',
    'call',
    'result true',
    'reply All is done for shell.',
    used,
    used,
  ],
  [
    'prompt please scene:edit now',
    'call',
    ...(declined ? ['result false'] : []),
    ...(cancelled ? ['stop person'] : []),
    used,
  ],
  ['prompt please scene:long now', 'reply the long answer', ...(memory ? [`${used} beside`] : []), used],
  ['prompt please scene:fault now', 'stop failure'],
]

const recorded: Record<string, Recorded> = {
  claude: { stopped: false, declined: true, cancelled: true },
  codex: { stopped: true, declined: true, cancelled: true },
  gemini: { stopped: true, declined: true, cancelled: true },
  qwen: { stopped: false, declined: true, cancelled: false, memory: true },
  copilot: { stopped: true, declined: false, cancelled: true },
}

for (const [cli, name] of Object.entries(names))
  test(`${cli}: a whole session is read from its own file`, () => {
    const facts = factsOf(cli)
    const told = facts.filter((fact) => fact.type === 'session')
    const key = told.find((fact) => fact.key !== undefined)?.key
    const cwd = told.find((fact) => fact.cwd !== undefined)?.cwd
    assert.deepEqual({ key, cwd }, { key: /0{8}-[0-9a-f-]{27}/.exec(name)?.[0] ?? uuid(1), cwd: '/rig/project' })
    const byTurn: string[][] = []
    for (const fact of facts) {
      if (fact.type === 'prompt') byTurn.push([])
      if (fact.type !== 'session') byTurn.at(-1)!.push(short(fact).replace(longAnswer, 'the long answer'))
    }
    // The place of a request's tokens among its words differs from CLI to CLI.
    const counted = byTurn.map((turn) => [
      ...turn.filter((word) => word !== used),
      ...turn.filter((word) => word === used),
    ])
    assert.deepEqual(counted, turns(recorded[cli]!))
    assert.ok(facts.every(({ at, type }) => type === 'session' || at === Date.parse('2026-11-15T12:00:00.000Z')))
  })

const looked = [
  'prompt please look at it',
  'reply I look.',
  'call',
  'result true',
  'reply It says hi.',
  'prompt and more',
  'reply It says hi.',
]

/** Words without tokens, and the tokens. */
const parted = (facts: readonly PastFact[]) => ({
  words: facts.filter(({ type }) => type !== 'session' && type !== 'usage').map(short),
  tokens: facts.flatMap((fact) => (fact.type === 'usage' ? [`${short(fact)} ${fact.cost} ${fact.model}`] : [])),
})

// 200 fresh tokens at 1, 1000 cached ones at 0.1 and 34 at 2 dollars for a million, as its settings say.
const spent = (cost: string) => Array.from({ length: 3 }, () => `${used} ${cost} mock-model`)

test('pi: a whole session is read from its own file, with the cost that it recorded', () => {
  const read = profileNamed('pi')!.past!.reader(`--rig-project--/2026_${uuid(1)}.jsonl`)
  const lines = readFileSync(join(journals, 'pi.jsonl'), 'utf8').trim().split('\n')
  const facts = lines.flatMap((line) => read(JSON.parse(line)))
  const at = Date.parse('2026-11-15T12:00:00.000Z')
  assert.deepEqual(facts[0], { type: 'session', at, key: uuid(1), cwd: '/rig/project' })
  assert.deepEqual(parted(facts), { words: looked, tokens: spent('0.000368') })
})

test('opencode: a whole session is read from its database, with the cost that it recorded', () => {
  const { past } = profileNamed('opencode')!
  assert.ok(past && 'database' in past)
  const db = opencodeDatabase(':memory:')
  const sessions = db.prepare(past.sessions).all()
  assert.deepEqual(
    sessions.map(({ session, changed, inner }) => ({ session, changed, inner })),
    [{ session: 'ses_0001', changed: 1794744000000, inner: 0 }],
  )
  const read = past.reader('ses_0001')
  const facts = db
    .prepare(past.records)
    .all({ session: 'ses_0001' })
    .flatMap((row) => read(row))
  assert.deepEqual(facts[0], { type: 'session', key: 'ses_0001', cwd: '/rig/project' })
  assert.deepEqual(parted(facts), { words: looked, tokens: spent('0.000368') })
})

test('a record of an unknown form gives no facts', () => {
  for (const [cli, name] of Object.entries(names)) {
    const read = profileNamed(cli)!.past!.reader(name)
    for (const strange of [
      {},
      { type: 7 },
      { type: 'user' },
      { type: 'assistant', message: [] },
      { $set: 1 },
      { payload: null },
    ])
      for (const fact of read(strange)) assert.ok(['session', 'prompt'].includes(fact.type))
  }
})
