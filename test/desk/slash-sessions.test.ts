import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownerMark } from '../../src/base/process/owner.ts'
import { copyPast, findPast } from '../../src/people/import/import.ts'
import { hasPast } from '../../src/people/import/session-files.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { openIndex } from '../../src/store/index/conversation-index.ts'
import type { ListTalk } from '../../src/core/talk/command.ts'
import { plain, seated, type Seat } from '../app/seat.ts'
import { treesOf } from '../../src/think/turn/task-trees.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const echo = plain({ amber: 'cat >/dev/null; date +%N > made.txt; echo fine' })

const history = (seat: Seat) => join(seat.home, 'projects', seat.app.project.slug, 'history.jsonl')

async function indexed(seat: Seat) {
  const index = openIndex(seat.home, { clock: seat.io.clock })
  await index.catchUp()
  const sessions = await index.sessions()
  await index.close()
  return sessions.map(({ id, turns }) => [id, turns])
}

test('/reset starts a new session, by name too, and says how to come back', async (t) => {
  const seat = await seated(t, echo)
  const first = seat.app.session.id
  golden(t, await seat.type('/reset'), { [first]: '<first>' })
  const second = seat.app.session.id
  golden(t, await seat.type('/reset spike'), { [second]: '<second>' })
  assert.deepEqual(seat.turned, [
    ['open', { fresh: true }],
    ['open', { fresh: true, name: 'spike' }],
  ])
  assert.equal(seat.app.session.name, 'spike')
})

test('/sessions offers the others of this project, and goes on with the one that is picked', async (t) => {
  const seat = await seated(t, echo)
  golden(t, await seat.type('/sessions'))
  await seat.turn('first words')
  const first = seat.app.session.id
  await seat.type('/reset')
  await seat.turn('second words')
  seat.answers.push([first])
  assert.deepEqual(await seat.type('/sessions'), [['note', 'Resumed first words.']])
  assert.deepEqual(seat.asked.at(-1)?.options, [{ id: first, label: 'just now · 1 turn · first words' }])
  assert.equal(seat.app.session.id, first)
  assert.deepEqual(await seat.complete('resume', first.slice(0, 25)), [first])
})

test('/resume takes the beginning of an id or a name, and says when none was found', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('one')
  const first = seat.app.session.id
  await seat.type('/reset spike')
  await seat.turn('two')
  const second = seat.app.session.id
  assert.deepEqual(await seat.type(`/resume ${first}`), [['note', 'Resumed one.']])
  assert.equal(seat.app.session.id, first)
  assert.deepEqual(await seat.type('/resume spike'), [['note', 'Resumed spike.']])
  assert.equal(seat.app.session.id, second)
  golden(t, await seat.type('/resume spike'))
  golden(t, await seat.type('/resume nobody'))
  assert.deepEqual(await seat.complete('resume', 'sp'), ['spike'])
})

test('/resume of an imported session continues it as one of ours, with its turns', async (t) => {
  const seat = await seated(t, echo)
  const { io, home, app } = seat
  const { place } = app
  const journal = join(import.meta.dirname, '..', 'fixtures', 'journals', 'claude.jsonl')
  const folder = join(home, 'other', '.claude', 'projects', 'x')
  mkdirSync(folder, { recursive: true })
  const text = readFileSync(journal, 'utf8').replaceAll('/rig/project', place.root)
  writeFileSync(join(folder, '00000000-0000-4000-8000-000000000001.jsonl'), text)
  const index = openIndex(home, { clock: io.clock })
  const claude = profileNamed('claude')!
  assert.ok(hasPast(claude))
  const env = {}
  const world = { io: { ...io, env }, home: join(home, 'other'), place, store: fileStore(home), index }
  await copyPast(world, await findPast(world, [claude]))
  await index.catchUp()
  const imported = (await index.sessions()).find(({ cli }) => cli === 'claude')!
  await index.close()
  const words = 'please scene:hang now line two line three line four line fi…'
  assert.deepEqual(await seat.type(`/resume ${imported.id}`), [['note', `Resumed ${words}.`]])
  const { id } = seat.app.session
  assert.notEqual(id, imported.id)
  assert.deepEqual(await indexed(seat), [[id, 5]])
  await seat.turn('and now')
  assert.deepEqual(await indexed(seat), [[id, 6]])
})

test('/clear asks: a new session keeps the old one, and leaving the card changes nothing', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('keep me')
  const first = seat.app.session.id
  assert.deepEqual(await seat.type('/clear'), [['note', 'Nothing was changed.']])
  seat.answers.push(['leave'], ['del'], ['new'])
  assert.deepEqual(await seat.type('/clear'), [['note', 'Nothing was changed.']])
  assert.deepEqual(await seat.type('/clear'), [['note', 'Nothing was changed.']])
  assert.deepEqual(seat.turned, [])
  golden(t, await seat.type('/clear'))
  assert.deepEqual(await indexed(seat), [[first, 1]])
  golden(t, [...new Set(seat.asked.map(({ about, free, options }) => JSON.stringify([about, free, options])))])
})

test('/clear with the word typed erases history, outputs, snapshots, index and trees of tasks for good', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('a secret thing')
  const { kept } = treesOf(seat.app)
  await kept.update(() => [{ id: 't', prompt: 'a secret thing', tasks: [] }])
  assert.equal((await indexed(seat)).length, 1)
  const workers = join(seat.home, 'crew', `${seat.app.project.slug}.${seat.app.session.id}`)
  mkdirSync(workers, { recursive: true })
  seat.answers.push(['Delete '])
  golden(t, await seat.type('/clear'), { [seat.folder]: '<seat>' })
  const folder = join(seat.home, 'projects', seat.app.project.slug)
  assert.deepEqual(
    [
      ...[history(seat), join(folder, 'snapshots'), workers].map((path) => existsSync(path)),
      ...[await indexed(seat), await kept.read()],
    ],
    [false, false, false, [], []],
  )
  const doc = await seat.app.project.doc.read()
  assert.deepEqual(Object.keys(doc.sessions), [seat.app.session.id], 'only the new session is known')
  await seat.turn('after it')
  assert.doesNotMatch(readFileSync(history(seat), 'utf8'), /secret/)
  assert.match((await seat.type('/diff'))[0]![1], /^“after it” .*made\.txt/s, 'snapshots go on from nothing')
})

test('/clear erases nothing while a turn is at work here', async (t) => {
  const seat = await seated(t, echo)
  await seat.app.conversation.append({ type: 'prompt', text: 'long', owner: ownerMark() }, 'user', 'turn-1')
  seat.answers.push(['delete'])
  golden(t, await seat.type('/clear'))
  assert.equal(existsSync(history(seat)), true)
  assert.deepEqual(seat.turned, [])
})

test('a chat that keeps nothing looks at nothing that was kept', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('kept')
  seat.app = { ...seat.app, ephemeral: true }
  for (const line of ['/sessions', '/resume kept', '/usage', '/diff', '/undo']) golden(t, await seat.type(line))
  assert.deepEqual(seat.asked, [])
})

/** A person at the list of sessions: each step is a key on the row with that title, and gets what the list asks. */
function atList(seat: Seat, ...steps: [action: string, title: string, ...answers: unknown[]][]) {
  const shown: unknown[] = []
  seat.world.screen.list = async (view) => {
    for (const [action, title, ...answers] of steps) {
      const rows = await view.rows('')
      const row = rows.find((one) => one.title === title)
      assert.ok(row, `${title} is not in ${JSON.stringify(rows)}`)
      const talk: ListTalk = {
        line: async (label, text) => (shown.push([label, text]), answers.shift() as string | undefined),
        sure: async (words) => (shown.push(words), answers.shift() === true),
        pick: async () => undefined,
        close: () => void shown.push('closed'),
      }
      shown.push(await view.act(action, row, talk).catch((error: Error) => error.message))
    }
    shown.push(...(await view.rows('')).map(({ title, cells }) => [title, ...cells!]))
  }
  return shown
}

test('the list of sessions renames, exports and deletes, and says why it does not', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('first words')
  const first = seat.app.session.id
  await seat.type('/reset')
  await seat.turn('second words')
  const second = seat.app.session.id
  const varying = { [first]: '<first>', [second]: '<second>', [seat.project]: '<project>' }
  const shown = atList(
    seat,
    ['rename', 'first words', 'spike'],
    ['rename', 'second words (open)', 'spike'],
    ['rename', 'second words (open)', 'now'],
    ['export', 'spike', 'spike.txt'],
    ['export', 'spike', 'spike.md'],
    ['export', 'spike', 'spike.md'],
    ['delete', 'now (open)'],
    ['delete', 'spike', false],
    ['delete', 'spike', true],
  )
  await seat.type('/sessions')
  golden(t, shown, varying)
  assert.match(readFileSync(join(seat.project, 'spike.md'), 'utf8'), /^# spike\n[^]*first words[^]*fine/)
  assert.equal(seat.app.session.name, 'now')
  assert.deepEqual(
    (await indexed(seat)).map(([id]) => id),
    [second],
  )
  assert.equal(readFileSync(history(seat), 'utf8').includes('first words'), false)
})

test('the list of sessions opens and forks, and finds sessions by their names and their words', async (t) => {
  const seat = await seated(t, echo)
  await seat.turn('first words')
  const first = seat.app.session.id
  await seat.type('/reset')
  await seat.turn('second words')
  const second = seat.app.session.id
  atList(seat, ['open', 'first words'])
  assert.deepEqual(await seat.type('/resume'), [['note', 'Resumed first words.']])
  assert.equal(seat.app.session.id, first)
  atList(seat, ['fork', 'second words'])
  golden(t, await seat.type('/sessions'), { [second]: '<second>' })
  assert.equal(
    (await seat.app.conversation.view()).some((entry) => 'text' in entry && entry.text === 'second words'),
    true,
  )
  const found: unknown[] = []
  seat.world.screen.list = async (view) => {
    for (const typed of ['SECOND', 'fine', 'nothing like it'])
      found.push([typed, (await view.rows(typed)).map(({ title, note }) => [title, note])])
    found.push(view.empty('nothing like it'), view.empty(''))
  }
  await seat.type('/sessions')
  golden(t, found)
})
