import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from '../../src/core/talk/entry.ts'
import { slashCommands } from '../../src/desk/slash/slash-commands.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'
import { folderOf, replies, seat as screen, sitDown } from './desk.ts'

const golden = goldenOf(import.meta.filename)

/** An agent that only reads by its settings, and keeps each prompt that it gets outside of the project. */
const reader = (answer: string, name = 'amber') => ({
  name,
  command: `cat > "$HOME/asked-$$"; ${answer}`,
  wall: false,
  leash: 'read',
  contextWindowTokens: 100_000,
})

/** The files below a folder that hold these words. */
const filesWith = (folder: string, words: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name), 'latin1').includes(words))
    .map(({ name }) => name.replace(/asked-\d+/, 'asked'))

test('/btw is answered by an agent that knows the conversation, and nothing of it is kept but its tokens', async (t) => {
  // The answer is so long that a turn would keep it in a file of its own.
  const answer = `if grep -q aside "$HOME/asked-$$"; then seq -f 'plover %g' 4000; else echo 'the work goes on'; fi`
  const seat = await seated(t, { agents: [reader(answer)] })
  await seat.turn('begin the work')
  const before = (await seat.app.conversation.read()).entries
  const said = await seat.type('/btw which bird is it?')
  const whole = said.map(([how, text]) => [how, text.replace(/plover 2\n[^]*plover 4000\n/, '…\n')])
  golden(t, whole)
  const asked = filesWith(seat.folder, 'which bird is it?')
  assert.deepEqual(asked, ['asked'], 'only the agent got it')
  const prompt = readdirSync(seat.folder)
    .map((name) => join(seat.folder, name))
    .find((path) => /asked-\d+$/.test(path) && readFileSync(path, 'utf8').includes('which bird'))!
  for (const words of ['begin the work', 'the work goes on']) assert.ok(readFileSync(prompt, 'utf8').includes(words))
  assert.deepEqual(filesWith(seat.folder, 'plover 3999'), [])

  const after = (await seat.app.conversation.read()).entries.slice(before.length)
  const usage = after.map((entry: Entry) => (entry.type === 'usage' ? [entry.type, entry.by, entry.turn] : entry))
  assert.deepEqual(usage, [['usage', 'amber', '']])
  assert.equal(seat.turned.length, 1, 'the status line counts it too')
  await seat.turn('go on')
  await seat.type('/export')
  assert.deepEqual(filesWith(seat.folder, 'which bird is it?'), ['asked'])
  assert.deepEqual(filesWith(seat.folder, 'plover 1'), [])
})

test('/btw says what it cannot do: without a question, without a reader, and when the reader fails', async (t) => {
  const seat = await seated(t, plain({ amber: 'cat >/dev/null; echo fine' }))
  golden(t, await seat.type('/btw'))
  golden(t, await seat.type('/btw what now?'))
  const failing = await seated(t, { agents: [reader(`echo 'it broke' >&2; exit 3`)] })
  golden(t, await failing.type('/btw what now?'))
  assert.deepEqual(
    (await failing.app.conversation.read()).entries.map(({ type }) => type),
    [],
  )
})

test('a turn goes on while a side question is answered, and Esc cancels only the question', async (t) => {
  const folder = folderOf(t)
  const go = join(folder, 'go')
  const work = `case "$(cat)" in *aside*) test -e ${folder}/slow && sleep 60; echo 'a plover';; *) until [ -e ${go} ]; do sleep 0.02; done; echo 'the work is done';; esac`
  const amber = { ...reader('', 'amber'), kind: 'pipe' as const, leash: 'read' as const, command: work }
  mkdirSync(join(folder, 'termaite'))
  writeFileSync(join(folder, 'termaite/settings.json'), JSON.stringify({ agents: [{ ...amber, kind: undefined }] }))
  const { desk, heard, until } = await sitDown(t, folder, {}, { agents: [amber], commands: slashCommands })
  desk.setScreen(screen())
  const asides = () => heard.flatMap((one) => (one.type === 'said' && one.how === 'aside' ? [one.text] : []))
  desk.submit('do the work')
  await until(() => desk.busy)
  desk.submit('/btw which bird?')
  await until(() => asides().length > 0)
  golden(t, asides())
  assert.deepEqual([replies(heard), desk.busy], [[], true])

  writeFileSync(join(folder, 'slow'), '')
  desk.submit('/btw and which tree?')
  await until(() => heard.some((one) => one.type === 'said' && one.text.includes('tree')))
  assert.equal(desk.cancel(), true)
  await until(() => heard.some((one) => one.type === 'said' && one.text.includes('cancelled')))
  writeFileSync(go, '')
  await until(() => replies(heard).length > 0)
  assert.deepEqual([replies(heard).map((text) => text.trim()), asides().length], [['the work is done'], 1])
})
