import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownerMark } from '../../src/base/process/owner.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** An agent that adds its prompt to a file, and answers with everything that it was told. */
const writer = plain({ amber: 'tee -a told.log | grep -o "^add .*" | tail -1 >> list.txt; echo done' })

async function threeTurns(t: Parameters<typeof seated>[0]) {
  const seat = await seated(t, writer)
  const turns: string[] = []
  for (const word of ['one', 'two', 'three']) {
    turns.push(await seat.turn(`add ${word}`))
    await seat.clock.turn(1000)
  }
  const list = () =>
    existsSync(join(seat.project, 'list.txt')) ? readFileSync(join(seat.project, 'list.txt'), 'utf8') : ''
  const pick = async (at: number) => (await seat.controls.prompts(20))[at]!.entry.id
  const prompts = async () =>
    (await seat.app.conversation.view()).flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []))
  return { seat, turns, list, pick, prompts }
}

test('/rewind takes conversation and files back to before a prompt, in a fork, and both can come forward again', async (t) => {
  const { seat, list, pick, prompts } = await threeTurns(t)
  const before = seat.app.session.id
  assert.equal(list(), 'add one\nadd two\nadd three\n')
  seat.answers.push([await pick(1)], ['both'])
  const [[how, words] = ['', '']] = await seat.type('/rewind')
  assert.equal(list(), 'add one\n')
  assert.deepEqual(await prompts(), ['add one'])
  const [files = '', talk] = words.split('\n')
  assert.equal(how, 'note')
  golden(t, talk, { [before]: '<before>' })
  const [, first, second] = /^The files went back\. To bring them forward again: \/undo (\w+), then \/undo (\w+)$/.exec(
    files,
  )!
  golden(
    t,
    seat.asked.map(({ text, shows }) => [text, shows]),
  )
  assert.deepEqual(seat.turned.at(-1), ['fill', 'add two'])
  seat.answers.push(['undo'], ['undo'])
  await seat.type(`/undo ${first}`)
  await seat.type(`/undo ${second}`)
  assert.equal(list(), 'add one\nadd two\nadd three\n')
  await seat.type(`/resume ${before}`)
  assert.deepEqual(await prompts(), ['add one', 'add two', 'add three'])
})

test('/rewind takes only the one or the other back; nothing chosen changes nothing', async (t) => {
  const { seat, list, pick, prompts } = await threeTurns(t)
  const session = seat.app.session.id
  seat.answers.push(undefined, [await pick(0)], ['leave'])
  assert.deepEqual(await seat.type('/rewind'), [['note', 'Nothing was changed.']])
  assert.deepEqual(await seat.type('/rewind'), [['note', 'Nothing was changed.']])
  assert.deepEqual([list(), seat.app.session.id], ['add one\nadd two\nadd three\n', session])
  seat.answers.push([await pick(0)], ['files'])
  const answer = await seat.type('/rewind')
  assert.deepEqual([list(), seat.app.session.id], ['add one\nadd two\n', session], JSON.stringify(answer))
  seat.answers.push([await pick(2)], ['talk'])
  await seat.type('/rewind')
  assert.deepEqual([list(), await prompts()], ['add one\nadd two\n', []])
})

test('/rewind leaves the person’s own changes, and says where a file was changed again', async (t) => {
  const { seat, pick } = await threeTurns(t)
  writeFileSync(join(seat.project, 'mine.txt'), 'mine\n')
  writeFileSync(join(seat.project, 'list.txt'), 'changed by hand\n')
  seat.answers.push([await pick(2)], ['files'])
  const [[, words] = ['', '']] = await seat.type('/rewind')
  assert.equal(readFileSync(join(seat.project, 'mine.txt'), 'utf8'), 'mine\n')
  const [, folder] = /Copies of the versions that were replaced are in (\S+): .*list\.txt/.exec(words)!
  assert.equal(readFileSync(join(folder!, 'list.txt'), 'utf8'), 'changed by hand\n')
})

test('/rewind brings no file back under a turn that is at work', async (t) => {
  const { seat, list, pick } = await threeTurns(t)
  const chosen = await pick(0)
  await seat.app.conversation.append({ type: 'prompt', text: 'long', owner: ownerMark() }, 'user', 'turn-1')
  seat.answers.push([chosen], ['both'])
  const [[how, words] = ['', '']] = await seat.type('/rewind')
  assert.equal(how, 'error')
  golden(t, words)
  assert.equal(list(), 'add one\nadd two\nadd three\n')
})

test('/sessions shows a fork below the session that it began in', async (t) => {
  const { seat, pick } = await threeTurns(t)
  const first = seat.app.session.id
  seat.answers.push([await pick(0)], ['talk'])
  await seat.type('/rewind')
  await seat.turn('add other three')
  await seat.clock.turn(60_000)
  await seat.type('/reset')
  await seat.turn('add something else')
  const last = seat.app.session.id
  await seat.clock.turn(60_000)
  await seat.type(`/resume ${first}`)
  await seat.turn('add four')
  await seat.type('/reset')
  await seat.type('/sessions')
  assert.deepEqual(
    seat.asked.at(-1)!.options.map(({ label }) => label.split(' · ').slice(1).join(' · ')),
    ['4 turns · add one', '1 turn · ↳ add other three', '1 turn · add something else'],
  )
  assert.notEqual(last, first)
})
