import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { emptyState, nextState } from '../../src/chat/state/chat-state.ts'
import { socketFolders } from '../../src/wire/peer/peer-sockets.ts'
import { start } from '../cli/program.ts'
import { until as untilTrue } from '../until.ts'
import { closings, folderOf, replies, sitDown } from './desk.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** One turn of another process in the same project, by an agent that is this command. */
function another(t: TestContext, folder: string, prompt: string, command: string, flags: readonly string[] = []) {
  const home = join(folder, 'termaite')
  mkdirSync(home, { recursive: true })
  const agents = [{ name: 'other', command, contextWindowTokens: 10_000 }]
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents }))
  const env = { PATH: process.env.PATH, HOME: folder, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: home }
  const child = spawn(start[0], [...start.slice(1), '-p', prompt, ...flags], {
    cwd: join(folder, 'project'),
    env,
    stdio: 'ignore',
  })
  const over = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  return { over, pid: child.pid!, kill: (signal: NodeJS.Signals = 'SIGKILL') => child.kill(signal) }
}

const prompts = (heard: Awaited<ReturnType<typeof sitDown>>['heard']) =>
  heard.flatMap((one) => (one.type === 'event' && one.event.type === 'prompt' ? [one.event.text] : []))

const texts = (heard: Awaited<ReturnType<typeof sitDown>>['heard']) =>
  heard.flatMap((one) => (one.type === 'event' && one.event.type === 'text' ? [one.event.delta] : [])).join('')

test('a turn that another process begins and ends after the chat was opened is shown', options, async (t) => {
  const folder = folderOf(t)
  const { heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  const [code] = await another(t, folder, 'from elsewhere', 'cat >/dev/null; echo hello').over
  await until((all) => closings(all).length === 1)
  assert.deepEqual([code, prompts(heard), replies(heard)], [0, ['from elsewhere'], ['hello']])
  assert.deepEqual(closings(heard)[0]!.by, 'other')
})

test(
  'a long turn of another process is followed as it goes, and text that it cannot take waits for its end',
  options,
  async (t) => {
    const folder = folderOf(t)
    const [began, go] = [join(folder, 'began'), join(folder, 'go')]
    const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
    const { over } = another(
      t,
      folder,
      'a long one',
      `cat >/dev/null; touch ${began}; until [ -e ${go} ]; do sleep 0.02; done; echo at last`,
    )
    await until(() => prompts(heard).length === 1)
    assert.deepEqual([existsSync(go), desk.busy, replies(heard)], [false, false, []])
    desk.submit('and then')
    await until((all) => all.some((one) => one.type === 'sent' && one.text === 'and then' && !one.starts))
    await until((all) => all.some((one) => one.type === 'queue' && one.texts.includes('and then')))
    writeFileSync(go, '')
    await until((all) => closings(all).length === 2)
    await over
    assert.deepEqual(prompts(heard), ['a long one', 'and then'])
    assert.deepEqual(replies(heard), ['at last', 'fine'])
    assert.deepEqual(
      closings(heard).map(({ by }) => by),
      ['other', 'good'],
    )
  },
)

test('the time of a followed turn is counted from its prompt, not from when it was seen', options, async (t) => {
  const folder = folderOf(t)
  const { heard, until, desk } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  await another(t, folder, 'from elsewhere', 'cat >/dev/null; sleep 0.05; echo hello').over
  await until((all) => closings(all).length === 1)
  const entries = (await desk.app().conversation.view()).filter(({ type }) => type === 'prompt' || type === 'end')
  assert.equal(closings(heard)[0]!.ms, entries[1]!.at - entries[0]!.at)
})

test('a followed turn whose process is killed ends on the screen and in the log', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  const other = another(t, folder, 'a long one', 'cat >/dev/null; echo half an answer; exec sleep 60')
  await until(() => texts(heard).includes('half an answer'))
  const screen = () => heard.reduce((state, one) => nextState(state, one, 0), emptyState)
  assert.deepEqual(
    screen().running.map(({ by }) => by),
    ['other'],
  )
  other.kill()
  await other.over
  await until((all) => closings(all).length === 1)
  const { running, done } = screen()
  assert.deepEqual(running, [])
  const words = done.flatMap((block) => {
    if (block.type === 'prompt' || block.type === 'reply') return [block.text]
    // The last words before the kill, which the killed process had no time to keep, stand below the failure.
    return block.type === 'error' ? [block.failure.message, block.said] : []
  })
  golden(
    t,
    words
      .map((text) => text.trim())
      .filter(Boolean)
      .toSorted(),
  )
  const ends = (await desk.app().conversation.read()).entries.filter(({ type }) => type === 'end')
  assert.equal(ends.length, 1)
  desk.submit('and then')
  await until((all) => closings(all).length === 2)
  assert.deepEqual(prompts(heard), ['a long one', 'and then'])
})

/** The words of the working line for each turn that runs. */
const runs = (heard: Awaited<ReturnType<typeof sitDown>>['heard']) =>
  heard
    .reduce((state, one) => nextState(state, one, 0), emptyState)
    .running.map(({ by, waiting }) => [by, waiting?.words])

test('a turn whose process cannot be reached ends on the screen when the process is killed', options, async (t) => {
  const folder = folderOf(t)
  const began = join(folder, 'began')
  const other = another(t, folder, 'a long one', `cat >/dev/null; touch ${began}; exec sleep 60`)
  // A folder is there before its socket; a process that finds it gone makes it again.
  const sockets = () =>
    socketFolders(join(folder, 'termaite')).filter(
      (place) => existsSync(place) && readdirSync(place).some((name) => name.endsWith('.sock')),
    )
  await untilTrue(() => existsSync(began) && sockets().length > 0)
  for (const place of sockets()) rmSync(place, { recursive: true })
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  const silent = `its process ${other.pid} does not answer`
  await until((all) => runs(all)[0]?.[1] === silent)
  assert.deepEqual(runs(heard), [[undefined, silent]])
  other.kill()
  await other.over
  await until((all) => closings(all).length === 1)
  assert.deepEqual(runs(heard), [])
  const ends = (await desk.app().conversation.read()).entries.filter(({ type }) => type === 'end')
  golden(
    t,
    ends.map((end) => end.type === 'end' && end.outcome),
  )
})

test(
  'the screen says that the process of a followed turn is stopped, and follows it when it goes on',
  options,
  async (t) => {
    const folder = folderOf(t)
    const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
    const other = another(t, folder, 'a long one', 'cat >/dev/null; echo half; exec sleep 60')
    await until(() => texts(heard).includes('half'))
    other.kill('SIGSTOP')
    const stopped = `its process ${other.pid} is stopped, and goes on with: kill -CONT ${other.pid}`
    await until((all) => runs(all)[0]?.[1] === stopped)
    assert.deepEqual(runs(heard), [['other', stopped]])
    // A chat that is opened meanwhile shows the same turn and the same words.
    const second = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
    await second.until((all) => runs(all)[0]?.[1] === stopped)
    other.kill('SIGCONT')
    await until((all) => runs(all)[0]?.[1] === undefined)
    await second.until(() => texts(second.heard).includes('half'))

    other.kill('SIGSTOP')
    desk.cancel()
    await until((all) => all.some((one) => one.type === 'said' && one.how === 'error'))
    golden(
      t,
      heard.flatMap((one) => (one.type === 'said' && one.how === 'error' ? [one.text] : [])),
      { [other.pid]: '<pid>' },
    )
    other.kill('SIGCONT')
    for (const screen of [{ heard, until }, second]) {
      await screen.until((all) => closings(all).length === 1)
      assert.deepEqual(runs(screen.heard), [])
    }
    assert.deepEqual(prompts(heard), ['a long one'])
    // The other process still writes into the folder of the test until its end.
    await other.over
  },
)

test('a watched turn that waits for the turns before it says so, until its agent is started', options, async (t) => {
  const folder = folderOf(t)
  const [began, go] = [join(folder, 'began'), join(folder, 'go')]
  const { heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo fine' })
  const command = `cat >/dev/null; touch ${began}; until [ -e ${go} ]; do sleep 0.02; done; echo done`
  const first = another(t, folder, 'the first', command)
  await untilTrue(() => existsSync(began))
  const second = another(t, folder, 'the second', command, ['--exclusive'])
  await until((all) => runs(all).some(([, words]) => words === 'waiting for the turn before this one'))
  writeFileSync(go, '')
  await Promise.all([first.over, second.over])
  await until((all) => closings(all).length === 2)
  assert.deepEqual([replies(heard), runs(heard)], [['done', 'done'], []])
})
