import type { Entry, Fact } from '../../src/core/talk/entry.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { openProject } from '../../src/home/project.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { Machine } from '../cli/program.ts'
import { looksOf, narrow, sizes } from './looks.ts'
import { keys, ProgramWindow } from './program-window.ts'
import { Sitting, uncounted } from './sitting.ts'

const options = { timeout: 120_000 }
const [ctrlD, ctrlN, ctrlR] = ['\u0004', '\u000e', '\u0012']

const hour = 3_600_000

type Said = {
  id: string
  name?: string
  ago: number
  origin?: string
  turns: [prompt: string, by: string, reply: string][]
}

/** Sessions with short and long titles, of other scripts, and one that would change the screen if it could. */
const talks: Said[] = [
  {
    id: 'checkout',
    ago: 26.5,
    turns: [
      ['Fix the flaky checkout test', 'alpha', 'The clock of the test was real. It is turned by hand now.'],
      ['Why was it slow too?', 'beta', 'It waited for the network.'],
    ],
  },
  { id: 'again', ago: 25.5, origin: 'checkout', turns: [['Try it with a fake network instead', 'beta', 'Done.']] },
  {
    id: 'notes',
    name: 'release notes',
    ago: 5.5,
    turns: [['Write the notes', 'alpha', 'A pelican is on the first page.']],
  },
  {
    id: 'long',
    ago: 73.5,
    turns: [
      [
        '支払いページのテストが時々失敗する理由を調べて、直してから、もう一度全部のテストを実行してください',
        'alpha',
        '直しました。',
      ],
    ],
  },
  { id: 'hostile', ago: 98.5, turns: [['\u001b[2J\u001b[31mred \u202eevil\r\nsecond line', 'beta', 'No.']] },
]

/** Keeps these sessions in the home of a machine, as turns of theirs would have been kept. */
async function keep(machine: Machine, all: readonly Said[]): Promise<void> {
  const store = fileStore(machine.home)
  const project = openProject(store, machine.project)
  const now = Date.now()
  const log = project.log
  for (const { id, ago, turns } of all.toSorted((a, b) => b.ago - a.ago))
    for (const [nth, [prompt, by, reply]] of turns.entries()) {
      const turn = `${id}-${nth}`
      const put = (fact: Fact, who: string) => {
        const entry: Entry = {
          ...fact,
          id: `${turn}-${fact.type}`,
          at: now - ago * hour + nth,
          by: who,
          session: id,
          turn,
        }
        return log.append(entry, 'unsynced')
      }
      await put({ type: 'prompt', text: prompt }, 'user')
      await put({ type: 'reply', text: reply }, by)
      await put({ type: 'end', outcome: { ok: true, text: reply } }, by)
    }
  const until = await log.end()
  await project.doc.update((doc) => ({
    ...doc,
    path: machine.project,
    sessions: Object.fromEntries(
      all.map(({ id, name, ago, origin }) => [
        id,
        {
          startedAt: now - ago * hour,
          from: 0,
          ...(name ? { name } : {}),
          ...(origin ? { origin: { session: origin, until } } : {}),
        },
      ]),
    ),
  }))
}

async function sitting(
  t: TestContext,
  look: string,
  shown: object,
  all: readonly Said[],
): Promise<{ at: Sitting; machine: Machine }> {
  const machine = new Machine(t)
  machine.agents(
    { alpha: 'cat >/dev/null; echo heard', beta: 'cat >/dev/null; echo heard' },
    { metaInstruction: false, thinking: 'off' },
  )
  await keep(machine, all)
  const window = new ProgramWindow(machine, { ...shown, args: ['--new'] })
  t.after(() => window.end())
  const at = new Sitting(window, look, uncounted)
  await at.begun()
  window.type('/sessions')
  window.type(keys.enter)
  return { at, machine }
}

for (const [look, shown] of looksOf('dark'))
  test(`the sessions are a list to search, rename, fork and delete (${look})`, options, async (t) => {
    const { at, machine } = await sitting(t, look, shown, talks)
    const { window } = at
    await at.framed('sessions', ['── Sessions', 'release notes', 'Esc leaves'], [...sizes, narrow[0]!])
    window.type('pelican')
    await at.framed('sessions-found', ['Search: pelican', 'on the first page', 'Esc empties'], [sizes[0]!])
    window.type(keys.escape)
    await at.shows('Esc leaves', 'red')
    window.type(ctrlR)
    await at.shows('New name: ')
    window.type(`${keys.ctrlU}the notes`)
    await at.framed('sessions-rename', ['New name: the notes', 'Enter takes it'], [sizes[0]!])
    window.type(keys.enter)
    await at.shows('is now called', /› the notes/)
    window.type(ctrlD)
    await at.framed('sessions-delete', ['for good?', 'y does it'], [sizes[0]!])
    window.type('y')
    await at.shows('Deleted “the notes”')
    assert.equal(readFileSync(machine.file('history.jsonl'), 'utf8').includes('pelican'), false)
    window.type(ctrlD)
    await at.framed('sessions-kept', ['Delete that one first'], [sizes[0]!])
    window.type(ctrlN)
    await at.shows('A new session began', 'It waited for the network.')
  })

test('500 sessions, and none', options, async (t) => {
  const many = Array.from({ length: 500 }, (_, nth): Said => ({
    id: `s${String(nth).padStart(3, '0')}`,
    ago: 2.5 + nth * 24,
    turns: [[`Question number ${nth}`, 'alpha', 'Answer.']],
  }))
  const { at } = await sitting(t, 'dark', {}, many)
  const { window } = at
  await at.shows('Question number 0 ', '1 of 500')
  window.type(keys.up)
  await at.shows('› Question number 499', '500 of 500')
  window.type('number 49')
  await at.shows('› Question number 49 ', 'Question number 499')
  window.type(keys.enter)
  await at.shows('Resumed Question number 49', '❯ Question number 49')
  const empty = await sitting(t, 'dark', {}, [])
  await empty.at.framed('sessions-none', ['There is no session'], [sizes[0]!])
  empty.at.window.type(keys.escape)
  await empty.at.shows('Ask anything')
})
