import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Seat } from '../app/seat.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const uuid = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`

/** A seat at a project in which Claude Code and Codex were used before. */
async function withPast(t: TestContext): Promise<Seat> {
  const seat = await seated(t, plain({ amber: 'cat >/dev/null; echo amber' }))
  const places = {
    claude: `.claude/projects/${seat.project.replaceAll(/[^a-zA-Z0-9]/g, '-')}/${uuid(1)}.jsonl`,
    codex: `.codex/sessions/2026/11/15/rollout-2026-11-15T12-00-00-${uuid(2)}.jsonl`,
  }
  for (const [cli, place] of Object.entries(places)) {
    const text = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'journals', `${cli}.jsonl`), 'utf8')
    const path = join(seat.folder, place)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text.replaceAll('/rig/project', seat.project))
  }
  return seat
}

const copies = (seat: Seat) => {
  const [slug] = readdirSync(join(seat.home, 'projects'))
  return readdirSync(join(seat.home, 'projects', slug!)).includes('imported')
    ? readdirSync(join(seat.home, 'projects', slug!, 'imported')).length
    : 0
}

test('/import lists the sessions of other CLIs, copies the chosen ones, and takes them back', async (t) => {
  const seat = await withPast(t)
  const shown: string[] = []
  seat.world.progress = (words) => void shown.push(words)
  golden(t, await seat.type('/import'))
  const [card] = seat.asked
  golden(t, {
    ...card,
    options: card!.options.map(({ label }) => label.replace(/ · (?:\d{4}-.*?|.*? ago) · /, ' · <time> · ')),
    marked: card!.marked?.length,
  })
  assert.equal(copies(seat), 0)
  seat.answers.push([card!.options[0]!.id])
  golden(t, await seat.type('/import'))
  assert.equal(copies(seat), 1)
  seat.answers.push(seat.asked[0]!.options.map(({ id }) => id))
  golden(t, await seat.type('/import claude codex'))
  assert.equal(copies(seat), 2)
  golden(t, await seat.type('/import'))
  golden(t, [...new Set(shown)])
  seat.answers.push(['remove'])
  golden(t, [await seat.type('/import --undo'), await seat.type('/import nothing')])
  assert.equal(copies(seat), 0)
  assert.deepEqual(await seat.complete('import', 'claude co'), ['claude codex', 'claude copilot'])
})

test('/import can be cancelled while it searches and while it copies; what was copied stays', async (t) => {
  const seat = await withPast(t)
  const stop = (when: RegExp) => {
    const stopped = new AbortController()
    Object.assign(seat.world, {
      signal: stopped.signal,
      progress: (words: string) => when.test(words) && stopped.abort(),
    })
  }
  stop(/session files read/)
  golden(t, await seat.type('/import'))
  assert.deepEqual([seat.asked.length, copies(seat)], [0, 0])
  stop(/1 of 2 sessions copied/)
  seat.world.ask = async ({ options }) => options.map(({ id }) => id)
  golden(t, await seat.type('/import'))
  assert.equal(copies(seat), 1)
})
