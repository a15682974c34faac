import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { slashCommands } from '../../src/desk/slash/slash-commands.ts'
import { folderOf, replies, seat, sitDown } from './desk.ts'

const options = { timeout: 20_000 }

/** A desk with an agent that answers "done", and the words that were put back into its input. */
async function seated(t: TestContext) {
  const folder = folderOf(t)
  const sat = await sitDown(t, folder, { amber: 'cat >/dev/null; echo done' }, { commands: slashCommands })
  const filled: string[] = []
  sat.desk.setScreen({ ...seat(), fill: (text) => filled.push(text) })
  const { desk, heard } = sat
  return {
    ...sat,
    folder,
    filled,
    errors: () => heard.flatMap((one) => (one.type === 'said' && one.how === 'error' ? [one.text] : [])),
    answered: (count: number) => sat.until((all) => replies(all).length === count),
    /** The prompts that the open session has kept. */
    async prompts() {
      const { entries } = await desk.app().conversation.read()
      return entries.flatMap((entry) => (entry.type === 'prompt' ? [entry.text] : []))
    },
  }
}

test('a prompt that is typed right after /reset belongs to the new session', options, async (t) => {
  const { desk, errors, answered, prompts } = await seated(t)
  desk.submit('before')
  await answered(1)
  await desk.idle()
  const old = desk.app().session.id
  desk.submit('/reset')
  desk.submit('hello')
  await answered(2)
  await desk.idle()
  assert.deepEqual([errors(), await prompts(), desk.app().session.id === old], [[], ['hello'], false])
})

test(
  'a prompt that is typed right after a command from a new file is sent after that of the file',
  options,
  async (t) => {
    const { desk, folder, answered, prompts } = await seated(t)
    mkdirSync(join(folder, 'termaite/commands'), { recursive: true })
    writeFileSync(join(folder, 'termaite/commands/first.md'), 'the first prompt\n')
    desk.submit('/first')
    desk.submit('the second prompt')
    await answered(2)
    await desk.idle()
    assert.deepEqual(await prompts(), ['the first prompt', 'the second prompt'])
  },
)

test('a shell command that is typed right after /reset is kept in the new session', options, async (t) => {
  const { desk, until, prompts } = await seated(t)
  desk.submit('/reset')
  desk.runShell('echo here')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'result'))
  await desk.idle()
  assert.deepEqual(await prompts(), ['!echo here'])
})

test(
  'a prompt does not wait for a loop; one that waits goes back into the input when its command is cancelled',
  options,
  async (t) => {
    const { desk, filled, until, answered, prompts } = await seated(t)
    desk.submit('/loop 10m again')
    desk.submit('beside the loop')
    await answered(2)
    desk.submit('/loop off')
    desk.submit('/clear')
    desk.submit('later')
    await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'question'))
    desk.cancel()
    await until((all) => all.some((one) => one.type === 'said' && one.text === 'Nothing was changed.'))
    await desk.idle()
    assert.deepEqual([filled, await prompts()], [['later'], ['beside the loop', 'again']])
  },
)
