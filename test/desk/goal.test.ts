import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeskEvent } from '../../src/chat/desk/chat-desk.ts'
import { slashCommands } from '../../src/desk/slash/slash-commands.ts'
import { until as seen } from '../until.ts'
import { goldenOf } from '../golden.ts'
import { folderOf, questions, replies, seat, sitDown } from './desk.ts'

const golden = goldenOf(import.meta.filename)

const timeout = 20_000

const notes = (heard: readonly DeskEvent[]) =>
  heard.flatMap((one) => (one.type === 'said' && !one.text.includes('uncommitted') ? [`${one.how}: ${one.text}`] : []))

/** What the status line said, each change once. */
const progress = (heard: readonly DeskEvent[]) =>
  heard
    .flatMap((one) => (one.type === 'standing' ? [one.standing.progress] : []))
    .filter((words, at, all) => words !== all[at - 1])

/** A desk whose agent adds a line to `work` with each turn, and keeps each request. */
async function working(
  t: TestContext,
  agent = (folder: string) => `cat > ${folder}/asked; echo one >> ${folder}/work; echo done`,
) {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'work'), '')
  const sat = await sitDown(t, folder, { amber: agent(folder) }, { commands: slashCommands })
  sat.desk.setScreen(seat())
  const { desk, heard, until } = sat
  const has = (words: string) => heard.some((one) => one.type === 'said' && one.text.includes(words))
  return {
    ...sat,
    folder,
    /** Types a command, and waits until something was said with these words. */
    async type(line: string, words = 'is over') {
      const before = heard.length
      desk.submit(line)
      await until(() => heard.slice(before).some((one) => one.type === 'said' && one.text.includes(words)))
      await desk.idle()
    },
    has,
    golden: (value: unknown) => golden(t, value, { [folder]: '<folder>' }),
  }
}

test('/goal goes on until the check passes; the agent gets its output, and the end is kept', { timeout }, async (t) => {
  const at = await working(t)
  const { desk, heard, folder } = at
  await at.type(`/goal wc -l < ${folder}/work; test $(wc -l < ${folder}/work) -ge 2`)
  at.golden(notes(heard))
  at.golden(progress(heard))
  assert.equal(readFileSync(join(folder, 'work'), 'utf8'), 'one\none\n')
  const asked = readFileSync(join(folder, 'asked'), 'utf8')
  at.golden(asked.slice(asked.lastIndexOf('Make this check')))
  assert.match(asked, /<result by="user">\n1\n\[exit code 1\]\n<\/result>/)
  const { entries } = await desk.app().conversation.read()
  at.golden(entries.flatMap((entry) => (entry.type === 'note' ? [[entry.by, entry.text]] : [])))
  assert.equal(desk.standing().progress, undefined)
})

test(
  '/goal ends by itself: it passes already, cannot run, fails in the same way, or has had its turns',
  { timeout },
  async (t) => {
    const at = await working(t)
    const turns = () => replies(at.heard).length
    await at.type('/goal true')
    await at.type('/goal no-such-check')
    assert.equal(turns(), 0)
    await at.type('/goal echo "took $(date +%S) s at 12:$(date +%M)"; false')
    assert.equal(turns(), 2, 'the third result was the same as the two before')
    await at.type(`/goal --max 3 wc -l < ${at.folder}/work; false`)
    assert.equal(turns(), 5)
    at.golden(notes(at.heard))
  },
)

test('/goal ends with a turn that fails, also when every quota is spent, and says why', { timeout }, async (t) => {
  const broken = await working(t, () => `cat >/dev/null; echo 'it broke' >&2; exit 3`)
  await broken.type('/goal false')
  broken.golden(notes(broken.heard))
  const spent = await working(t, () => `cat >/dev/null; echo 'usage limit reached' >&2; exit 1`)
  const { desk, heard, until } = spent
  desk.submit('/goal false')
  await until(() => questions(heard).length > 0)
  // The person does not want to wait for the quota.
  desk.answer(questions(heard)[0]!.ask)
  await until(() => spent.has('is over'))
  spent.golden(notes(heard).map((words) => words.replaceAll(/\d+:\d\d/g, '<time>')))
})

test('/goal says what it needs, shows what goes on, and ends by /goal off or Esc', { timeout }, async (t) => {
  const at = await working(t, (folder) => `cat >/dev/null; echo begun >> ${folder}/work; sleep 60`)
  const { desk, heard, until, folder } = at
  await at.type('/goal', 'type a command')
  await at.type('/goal off', 'no goal')
  await at.type('/goal --max many npm test', '--max')
  await at.type('/goal --max', '--max')
  const beginning = async (times: number) => {
    desk.submit('/goal false')
    await seen(() => readFileSync(join(folder, 'work'), 'utf8') === 'begun\n'.repeat(times))
  }
  await beginning(1)
  desk.submit('/goal')
  await until(() => at.has('“false” goes on. '))
  desk.submit('/goal true')
  await until(() => at.has('goes on already'))
  await at.type('/goal off')
  await beginning(2)
  const before = heard.length
  assert.equal(desk.cancel(), true)
  await until(() => heard.slice(before).some((one) => one.type === 'said' && one.text.includes('is over')))
  await desk.idle()
  at.golden(notes(heard))
  assert.equal(desk.standing().progress, undefined)
})

test('a goal ends with the chat, and the conversation says so', { timeout }, async (t) => {
  const at = await working(t, (folder) => `cat >/dev/null; echo begun >> ${folder}/work; sleep 60`)
  const { desk, heard, until } = at
  desk.submit('/goal false')
  await until(() => heard.some((one) => one.type === 'standing' && one.standing.progress === 'goal: turn 1 of 10'))
  desk.leave()
  await desk.close()
  const { entries } = await desk.app().conversation.read()
  at.golden(entries.flatMap((entry) => (entry.type === 'note' ? [entry.text] : [])))
})

test('a goal and a loop end when another session is opened, and their own session says so', { timeout }, async (t) => {
  const at = await working(t)
  const { desk, heard, until, folder } = at
  for (const [line, waits] of [
    ['/loop 10m again', 'loop: waits'],
    [`/goal echo begun >> ${folder}/checks; sleep 60`, 'goal: first'],
  ] as const) {
    desk.submit(line)
    await until(() => desk.standing().progress?.startsWith(waits) === true)
    const { conversation } = desk.app()
    await at.type('/reset')
    const { entries } = await conversation.read()
    at.golden(entries.flatMap((entry) => (entry.type === 'note' ? [entry.text] : [])))
    assert.deepEqual([(await desk.app().conversation.read()).entries, desk.standing().progress], [[], undefined])
  }
  assert.deepEqual(replies(heard), ['done'])
})

test(
  '/loop sends a prompt so many times, one turn after another, and lets a prompt of the person in between',
  { timeout },
  async (t) => {
    const overlap = `test -e "$HOME/busy" && echo overlap >> "$HOME/work"`
    const at = await working(t, () => `cat >/dev/null; ${overlap}; touch "$HOME/busy"; rm "$HOME/busy"; echo done`)
    const { desk, folder } = at
    desk.submit('mine first')
    await at.type('/loop 3 again please')
    const prompts = (await desk.app().conversation.read()).entries.flatMap((each) =>
      each.type === 'prompt' ? [each.text] : [],
    )
    assert.deepEqual(prompts, ['mine first', 'again please', 'again please', 'again please'])
    assert.equal(readFileSync(join(folder, 'work'), 'utf8'), '')
    for (const typed of [
      '/loop',
      '/loop 3',
      '/loop 0 x',
      '/loop 101 x',
      '/loop --max 5 3 x',
      '/loop 5 /review',
      '/loop off',
    ])
      await at.type(typed, '')
    at.golden(notes(at.heard))
  },
)
