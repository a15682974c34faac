import { test } from 'node:test'
import assert from 'node:assert/strict'
import { metaInstruction } from '../../src/core/talk/transcript.ts'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { quotedWord } from '../../src/base/text/shell-word.ts'
import { until } from '../until.ts'
import { seated, type Seat } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const document = '# AGENTS.md\n\n## What this project does\nIt is a test.\n'

/** An agent that answers so, and keeps what it was asked beside our home. */
const answers = (text: string) => `cat > "$HOME/asked"; printf '%s' ${quotedWord(text)}`

/** Agents without a wall around them, so that they can tell what they were asked. */
const told = (commands: Record<string, string>) => ({
  agents: Object.entries(commands).map(([name, command]) => ({
    name,
    command,
    wall: false,
    contextWindowTokens: 100_000,
  })),
})

const file = (seat: Seat) => join(seat.project, 'AGENTS.md')
const kept = async (seat: Seat) =>
  (await seat.app.conversation.read()).entries.map((entry) => [
    entry.type,
    entry.by,
    ...('text' in entry ? [entry.text] : []),
  ])

test('/init asks one agent the seed’s question, shows the document, writes it, and the conversation knows it', async (t) => {
  const seat = await seated(t, told({ amber: answers(document) }))
  seat.answers.push(['write'])
  const said = await seat.type('/init')
  assert.equal(readFileSync(file(seat), 'utf8'), document)
  assert.equal(statSync(file(seat)).mode & 0o044, 0o044 & ~process.umask(), 'as readable as any other file')
  assert.deepEqual(said, [['note', `${file(seat)} was written`]])
  const asked = readFileSync(join(seat.folder, 'asked'), 'utf8')
  for (const words of [
    '"# AGENTS.md"',
    '.cursorrules',
    '.github/copilot-instructions.md',
    '### Dependency & build notes',
  ])
    assert.ok(asked.includes(words), words)
  assert.ok(!asked.includes(metaInstruction), 'nobody is told to close with a summary')
  golden(t, seat.asked)
  golden(t, await kept(seat), { [seat.folder]: '<seat>' })
  seat.answers.push(['undo'])
  await seat.type('/undo')
  assert.equal(existsSync(file(seat)), false, 'and it can be taken back')
})

test('an AGENTS.md that is there is shown beside the new one, and kept as a copy with its own mode', async (t) => {
  const seat = await seated(t, told({ amber: answers(document) }))
  writeFileSync(file(seat), 'old\n')
  chmodSync(file(seat), 0o640)
  seat.answers.push(['write'])
  await seat.type('/init')
  const backup = 'AGENTS.md.2026-11-15T12-00-00-000Z.bak'
  assert.deepEqual(readdirSync(seat.project).sort(), ['AGENTS.md', backup])
  assert.deepEqual(
    [
      readFileSync(file(seat), 'utf8'),
      readFileSync(join(seat.project, backup), 'utf8'),
      statSync(file(seat)).mode & 0o777,
    ],
    [document, 'old\n', 0o640],
  )
  assert.deepEqual(seat.asked[0]?.shows, [{ type: 'diff', path: 'AGENTS.md', before: 'old\n', after: document }])
  golden(t, seat.said.at(-1), { [seat.folder]: '<seat>' })
})

test('without a yes nothing is written, and without a change no question is asked', async (t) => {
  const seat = await seated(t, told({ amber: answers(document) }))
  assert.deepEqual((await seat.type('/init')).at(-1), ['note', 'Nothing was written.'])
  assert.equal(existsSync(file(seat)), false)
  writeFileSync(file(seat), document)
  golden(t, (await seat.type('/init')).at(-1))
  assert.equal(seat.asked.length, 1)
})

for (const [what, answer] of Object.entries({
  'a fence': '```markdown\n# AGENTS.md\n\n## How to run\n```sh\nmake\n```\n```',
  'chatter and a fence': 'Here it is:\n\n````md\n# AGENTS.md\n\n## How to run\n```sh\nmake\n```\n````\nTell me if…',
  'a preamble': 'I looked around.\n\n# AGENTS.md\n\n## How to run\n```sh\nmake\n```\n\n',
}))
  test(`${what} around the document is taken off`, async (t) => {
    const seat = await seated(t, told({ amber: answers(answer) }))
    seat.answers.push(['write'])
    await seat.type('/init')
    assert.equal(readFileSync(file(seat), 'utf8'), '# AGENTS.md\n\n## How to run\n```sh\nmake\n```\n')
  })

for (const answer of ['I have created the file.', '# AGENTS.md was written, as you asked.', '## How to run\nmake'])
  test(`an answer that is no AGENTS.md is refused and told: ${answer.slice(0, 20)}`, async (t) => {
    const seat = await seated(t, told({ amber: answers(answer) }))
    golden(t, (await seat.type('/init')).at(-1))
    assert.deepEqual([seat.asked, existsSync(file(seat))], [[], false])
  })

test('an agent that fails is told, and the next one is asked', async (t) => {
  const seat = await seated(t, told({ amber: 'cat >/dev/null; echo broken >&2; exit 1', birch: answers(document) }))
  seat.answers.push(['write'])
  const said = await seat.type('/init')
  assert.match(said[0]![1], /^amber failed.*broken/)
  assert.equal(readFileSync(file(seat), 'utf8'), document)
})

test('a file that was changed while the card was open is not overwritten', async (t) => {
  const seat = await seated(t, told({ amber: answers(document) }))
  const { ask } = seat.world
  seat.world.ask = async (...question) => {
    writeFileSync(file(seat), 'mine\n')
    seat.answers.push(['write'])
    return ask(...question)
  }
  golden(t, (await seat.type('/init')).at(-1))
  assert.equal(readFileSync(file(seat), 'utf8'), 'mine\n')
})

test('a link inside the project is followed, and one that leads out of it is refused before anybody is asked', async (t) => {
  const seat = await seated(t, told({ amber: answers(document) }))
  writeFileSync(join(seat.project, 'CLAUDE.md'), 'old\n')
  symlinkSync('CLAUDE.md', file(seat))
  seat.answers.push(['write'])
  await seat.type('/init')
  assert.equal(readFileSync(join(seat.project, 'CLAUDE.md'), 'utf8'), document)
  assert.equal(lstatSync(file(seat)).isSymbolicLink(), true)

  const outside = await seated(t, told({ amber: answers(document) }))
  writeFileSync(join(outside.folder, '.bashrc'), 'mine\n')
  symlinkSync('../.bashrc', file(outside))
  outside.answers.push(['write'])
  golden(t, (await outside.type('/init')).at(-1), { [outside.folder]: '<outside>' })
  assert.deepEqual(
    [readFileSync(join(outside.folder, '.bashrc'), 'utf8'), existsSync(join(outside.folder, 'asked'))],
    ['mine\n', false],
  )
})

test(
  'Esc cancels it: an agent that is slow to leave is gone at the end, and nothing is written',
  { timeout: 60_000 },
  async (t) => {
    const slow = `cat >/dev/null; trap 'sleep 0.2; exit' TERM; echo $$ > "$HOME/pid"; mv "$HOME/pid" "$HOME/started"; sleep 600 & wait`
    const seat = await seated(t, told({ amber: slow }), {}, realClock)
    const started = join(seat.folder, 'started')
    const running = seat.type('/init')
    await until(() => existsSync(started))
    const pid = Number(readFileSync(started, 'utf8'))
    assert.equal(process.kill(pid, 0), true)
    seat.stop.abort()
    assert.deepEqual((await running).at(-1), ['error', 'amber was cancelled'])
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
    assert.equal(existsSync(file(seat)), false)
  },
)
