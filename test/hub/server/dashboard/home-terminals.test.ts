import type { TestContext } from 'node:test'
import type { Terminal } from '../../../../src/core/screen/terminal.ts'
import type { Slot } from '../../../../src/crew/slot.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { terminalsOf } from '../../../../src/crew/machine/crew-terminals.ts'
import { HomeTerminals } from '../../../../src/hub/server/dashboard/home-terminals.ts'
import { openProject, openSession, slugOf } from '../../../../src/home/project.ts'
import { realClock } from '../../../../src/base/time/clock.ts'
import { SlotLedger } from '../../../../src/crew/slot-ledger.ts'
import { fileStore } from '../../../../src/store/files/file-store.ts'
import { drawn } from '../../../contract/terminal.ts'
import { noTmux, running } from '../../../terminals/real.ts'
import { until } from '../../../until.ts'

const clock = realClock

/** A home with a project in it, as the hub of this home sees it. */
async function machine(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-seen-')))
  const [root, home] = [join(folder, 'shop'), join(folder, 'home')]
  for (const path of [root, home]) mkdirSync(path)
  const env = {
    PATH: process.env.PATH!,
    HOME: folder,
    TERMAITE_HOME: home,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TMUX_TMPDIR: folder,
  }
  const store = fileStore(home, { clock })
  await openSession(openProject(store, root), {}, clock)
  const seen = new HomeTerminals({
    home,
    machine: 'desk',
    clock,
    mask: (text) => text.replaceAll('secret', '***'),
    terminals: () => terminalsOf({ env, clock }, { terminals: { host: 'auto' } }, { lends: false, everywhere: true }),
  })
  // The newest resource is ended first, and the folder goes at the end.
  const endings: (() => Promise<unknown>)[] = [() => seen.close()]
  t.after(async () => {
    for (const end of endings.toReversed()) await end()
    rmSync(folder, { recursive: true, force: true })
  })
  const put = (workspace: string, slots: readonly Partial<Slot>[]) =>
    new SlotLedger(store, workspace, clock).change(() => ({
      next: slots.length + 1,
      slots: Object.fromEntries(slots.map((slot) => [slot.id, { ...usual, ...slot } as Slot])),
    }))
  /** Opens a terminal in tmux that ends with the test. */
  const inTmux = async (id: string): Promise<Terminal> => {
    const terminals = terminalsOf({ env, clock }, { terminals: { host: 'tmux' } }, { lends: false })
    const terminal = await (
      await terminals.host()
    ).open(running('echo'), {
      cwd: root,
      id,
      size: { cols: 90, rows: 12 },
    })
    endings.push(
      () => terminals.close(),
      () => terminal.close(),
    )
    await drawn(terminal, 'ready')
    return terminal
  }
  return { root, home, env, seen, put, inTmux, endings, slug: slugOf(root) }
}

const usual = {
  agent: 'claude',
  task: '',
  cwd: '/copy',
  leash: 'ask',
  needs: [],
  patience: 0,
  since: 5,
  session: '',
  queue: [],
} as const

/** Types into a terminal as a person at the page does, and sees the program's answer. */
async function talk(terminal: Terminal): Promise<void> {
  await drawn(terminal, 'ready')
  const { cols, rows } = await terminal.screen()
  const { at } = await terminal.paint(10)
  await terminal.write('hello\r', true)
  await drawn(terminal, 'got: hello', at)
  assert.ok((await terminal.touched()) > 0)
  const after = await terminal.screen()
  assert.deepEqual([after.cols, after.rows.length], [cols, rows.length], 'nobody resized it')
}

test('slots and workers in terminals are listed, with where they work and whether they can be typed into', async (t) => {
  const { seen, put, root, slug } = await machine(t)
  await put(slug, [
    { id: 1, state: 'idle', task: 'fix the secret\nnow', terminal: { id: 'a' }, queue: [] },
    { id: 2, state: 'starting', terminal: { id: 'b' } },
  ])
  const worker = { name: 'Reader', role: 'explorer' as const, turn: 't', minutes: 5 }
  await put(`${slug}.session`, [
    { id: 1, state: 'idle', terminal: { id: 'c' }, worker: { ...worker, where: 'terminal' } },
    { id: 2, state: 'idle', terminal: { id: 'd' }, worker: { ...worker, where: 'background' } },
  ])
  const all = await seen.list()
  const common = { agent: 'claude', machine: 'desk', project: root, since: 5 }
  const ofCrew = { ...common, crew: slug, kind: 'crew' }
  const [one, two] = all
  assert.deepEqual(all, [
    { ...ofCrew, id: 'a', name: 'slot 1', hubAgent: one!.hubAgent, state: 'idle', task: 'fix the *** now', keys: true },
    { ...ofCrew, id: 'b', name: 'slot 2', hubAgent: two!.hubAgent, state: 'starting', keys: false },
    { ...common, id: 'c', name: 'Reader (explorer)', kind: 'worker', state: 'idle', keys: true },
  ])
  assert.match(one!.hubAgent!, /^claude-slot-1-\w{4}$/)
  assert.equal(await seen.open('b'), undefined)
  assert.equal(await seen.open('../a'), undefined)
})

test('a terminal in tmux is opened by its id and typed into', { skip: noTmux }, async (t) => {
  const { seen, put, inTmux, slug } = await machine(t)
  const id = crypto.randomUUID()
  await inTmux(id)
  assert.equal(await seen.open(id), undefined, 'only a terminal that is listed is opened')
  await put(slug, [{ id: 1, state: 'idle', terminal: { id }, queue: [] }])
  await talk((await seen.open(id))!)
})

test('an agent in a terminal of another process is listed under its name at the hub and opened', async (t) => {
  const { seen, env, endings } = await machine(t)
  const id = crypto.randomUUID()
  const lender = join(import.meta.dirname, 'lender.ts')
  const child = spawn(process.execPath, [lender, JSON.stringify(env), id, running('echo')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  endings.push(async () => {
    const over = once(child, 'exit')
    child.stdin.end()
    await over
  })
  await once(child.stdout, 'data')
  const [row] = await seen.list()
  assert.deepEqual(row, {
    id,
    name: 'gemini-abc123',
    agent: 'gemini',
    hubAgent: 'gemini-abc123',
    machine: 'desk',
    project: '/shop',
    kind: 'supervised',
    state: 'running',
    since: row!.since,
    keys: true,
  })
  // A process is reachable for the others a moment after its start.
  const terminal = await until(() => seen.open(id))
  const { cols, rows } = await terminal.paint()
  assert.deepEqual([cols, rows], [70, 20])
  await talk(terminal)
})

test('a CLI in tmux whose supervisor was killed is still listed', { skip: noTmux }, async (t) => {
  const { seen, root, inTmux } = await machine(t)
  const [id, session] = [crypto.randomUUID(), 'session-123456']
  const folder = join(root, '.termaite', 'sessions', session)
  mkdirSync(folder, { recursive: true })
  const timestamp = '2026-01-02T03:04:05.000Z'
  const state = { id: session, agent: 'codex', workflow: 'orc', timestamp, terminal: id, host: 'tmux' }
  writeFileSync(join(folder, 'session.json'), JSON.stringify(state))
  await inTmux(id)
  assert.deepEqual(await seen.list(), [
    {
      id,
      name: 'codex-123456',
      agent: 'codex',
      hubAgent: 'codex-123456',
      machine: 'desk',
      project: root,
      kind: 'supervised',
      state: 'without its supervisor',
      since: Date.parse(timestamp),
      keys: true,
    },
  ])
  await talk((await seen.open(id))!)
})
