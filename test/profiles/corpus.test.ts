import type { Profile } from '../../src/core/profile/profile.ts'
import type { Outcome } from '../../src/core/talk/outcome.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeOutcome } from '../../src/agents/pipe/pipe-process.ts'
import { profileNamed, allProfiles } from '../../src/profiles/all.ts'

/** One run: what it printed, how it ended, and what it must be taken for: `ok` or the kind of its failure. */
type Case = { cli: string; out: string; err: string; code: number; expect: string; why: string; dialect?: true }

const fixtures = join(import.meta.dirname, '..', 'fixtures')
const now = Date.parse('2026-11-15T12:00:00Z')
const corpus = globSync('*.json', { cwd: join(fixtures, 'corpus') })
  .filter((file) => file !== 'talk.json')
  .flatMap((file) => JSON.parse(readFileSync(join(fixtures, 'corpus', file), 'utf8')) as Case[])
const talk = JSON.parse(readFileSync(join(fixtures, 'corpus', 'talk.json'), 'utf8')) as { text: string }[]

type Run = Pick<Case, 'out' | 'err' | 'code'> & { args?: string }

/** The command of the runs that people reported, where it is not the one that is composed. */
const reported: Record<string, string> = { codex: 'codex exec --json' }

/** The outcome that the pipe agent makes of a run, with the dialect or as text. */
function judge(profile: Profile | undefined, { args, out, err, code }: Run, spoken: boolean): Outcome {
  const ended = { out, err, code, now }
  const dialect = spoken ? profile?.dialect?.(args === undefined ? {} : { command: args }) : undefined
  if (!dialect) return pipeOutcome('it', { ok: true, text: out.trim() }, false, ended, profile)
  dialect.open('')
  const lines = out.split('\n').filter((line) => line.trim() !== '')
  const steps = [...lines.flatMap((line) => dialect.line(line)), ...dialect.end(ended)]
  const end = steps.findLast((step) => step.type === 'end')
  return pipeOutcome('it', end?.type === 'end' ? end.outcome : undefined, true, ended, profile)
}

/** A recorded answer with other words in it, whether it stands whole there or in two pieces. */
function saying(recorded: string, text: string): string {
  const words = JSON.stringify(text)
  return recorded
    .replaceAll('Hello there.', words.slice(1, -1))
    .replaceAll('"Hello "', words)
    .replaceAll('"there."', '""')
}

const kindOf = (outcome: Outcome) => (outcome.ok ? 'ok' : outcome.failure.kind)

test('the corpus is large enough to mean something', () => {
  assert.ok(corpus.length >= 140 && talk.length >= 60, `${corpus.length} runs, ${talk.length} answers`)
  const covered = new Set(corpus.map(({ cli }) => cli))
  assert.deepEqual(
    [...allProfiles().map(({ name }) => name), 'plain'].filter((name) => !covered.has(name)),
    [],
  )
})

test('every real message is read as its kind', () => {
  const found = corpus.map((one) => ({
    ...one,
    expect: kindOf(judge(profileNamed(one.cli), { ...one, args: reported[one.cli] ?? one.cli }, one.dialect === true)),
  }))
  assert.deepEqual(
    found.filter((one, index) => one.expect !== corpus[index]!.expect),
    [],
  )
})

test('an answer that talks about limits is an answer', () => {
  const parked = [undefined, ...allProfiles()].flatMap((profile) =>
    talk.flatMap(({ text }) => {
      const outcome = judge(profile, { out: `${text}\n`, err: '', code: 0 }, false)
      return outcome.ok && outcome.text === text ? [] : [{ cli: profile?.name ?? 'plain', text, outcome }]
    }),
  )
  assert.deepEqual(parked, [])
})

const crashes = [
  { err: '', code: 1 },
  { err: '', code: 139 },
  { err: 'TypeError: fetch failed\n    at node:internal/deps/undici\n', code: 1 },
  { err: 'Segmentation fault\n', code: 139 },
]

test('a crash after an answer that talks about limits is a crash', () => {
  const parked = [undefined, ...allProfiles()].flatMap((profile) =>
    talk.flatMap(({ text }) =>
      crashes.flatMap((crash) => {
        const kind = kindOf(judge(profile, { out: `${text}\n`, ...crash }, false))
        return kind === 'crash' ? [] : [{ cli: profile?.name ?? 'plain', text, kind, ...crash }]
      }),
    ),
  )
  assert.deepEqual(parked, [])
})

test('an answer that talks about limits is an answer in every dialect', () => {
  const speaking = allProfiles().filter(({ dialect }) => dialect)
  const parked = speaking.flatMap((profile) => {
    const file = join(fixtures, 'recorded', profile.name, 'answer.json')
    assert.ok(existsSync(file), `${profile.name} has no recorded answer`)
    const recorded = JSON.parse(readFileSync(file, 'utf8')) as Run
    return talk.flatMap(({ text }) => {
      const outcome = judge(profile, { ...recorded, out: saying(recorded.out, text) }, true)
      return outcome.ok && outcome.text === text ? [] : [{ cli: profile.name, text, outcome }]
    })
  })
  assert.deepEqual(parked, [])
})
