import type { Event } from '../../src/core/talk/entry.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { WarmProcesses } from '../../src/agents/warm-processes.ts'
import { endLeft, leftProcesses } from '../../src/base/process/left-processes.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { outcomeOf, talk } from './talk.ts'
import { skipped } from './turns.ts'

const hello: Script = ({ count }) => ({ text: `Answer ${count}.` })

const tokens = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'usage' ? [{ input: event.input, output: event.output }] : []))

const times = (text: string, part: string) => text.split(part).length - 1

const pool = () =>
  new WarmProcesses({ clock: realClock, idleMs: 600_000, memory: () => ({ total: 2 ** 34, free: 2 ** 33 }) })

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\nEOF"

/** A call that makes a file, and what becomes of it in the list of denials. */
const writes: Readonly<Record<string, { call: { tool: string; input: object }; denied: RegExp }>> = {
  claude: { call: { tool: 'Write', input: { file_path: 'new.txt', content: 'new\n' } }, denied: /^Write: new\.txt$/ },
  codex: { call: { tool: 'exec_command', input: { cmd: patch } }, denied: /^file_change: new\.txt$|^patch rejected: / },
  pi: { call: { tool: 'write', input: { path: 'new.txt', content: 'new\n' } }, denied: /^write: new\.txt$/ },
}

/** How the model of a CLI calls for a command. */
const shells: Readonly<Record<string, (command: string) => { tool: string; input: object }>> = {
  claude: (command) => ({ tool: 'Bash', input: { command } }),
  codex: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
  pi: (command) => ({ tool: 'bash', input: { command } }),
}

for (const [cli, shell] of Object.entries(shells)) {
  const skip = skipped(cli)

  test(`${cli} takes turn after turn in one process, and each is counted by itself`, { skip }, async () => {
    const warm = pool()
    await using it = await talk(cli, hello, { warm })
    const turns = [await it.say('The first question.', 'ask')]
    const first = await it.left()
    turns.push(await it.say('The second question.', 'ask'))
    await it.sayTo(scriptedAgent('other', [[{ say: 'The other answer.' }]]), 'A question in between.')
    turns.push(await it.say('The third question.', 'ask'))
    assert.deepEqual(
      turns.map((events) => [outcomeOf(events), tokens(events)]),
      [1, 2, 3].map((count) => [{ ok: true, text: `Answer ${count}.` }, [{ input: 1200, output: 34 }]]),
    )
    assert.deepEqual([first.length > 0, await it.left()], [true, first])
    const asked = it.server.turns().at(-1)!.text
    const texts = ['The first question.', 'Answer 1.', 'The second question.', 'Answer 2.', 'A question in between.']
    assert.deepEqual(
      [...texts, 'The other answer.', 'The third question.'].map((text) => times(asked, text)),
      [1, 1, 1, 1, 1, 1, 1],
    )
    await warm.close()
    assert.deepEqual(await it.left(), [])
  })

  test(`${cli} runs no turn in a process that was started for another leash`, { skip }, async () => {
    const warm = pool()
    await using it = await talk(cli, hello, { warm })
    const seen: string[] = []
    for (const leash of ['all', 'edit', 'ask', 'read', 'read'] as const) {
      await it.say(`A question at ${leash}.`, leash)
      seen.push((await it.left()).join(' '))
    }
    await warm.close()
    assert.deepEqual([new Set(seen).size, seen[3] === seen[4]], [4, true])
  })

  test(`${cli} is not kept after a turn that leaves a process running, and that one is named`, { skip }, async () => {
    const warm = pool()
    const calls: Script = ({ count }) =>
      count === 1 ? { call: shell('setsid -f sleep 71 >/dev/null 2>&1') } : { text: `Answer ${count}.` }
    await using it = await talk(cli, calls, { warm })
    await it.say('Start something.', 'all')
    const left = await leftProcesses()
    const pids = await it.left()
    await endLeft(left, realClock)
    await warm.close()
    assert.deepEqual([left.map(({ command }) => command), pids], [['sleep 71'], left.map(({ pid }) => pid)])
  })

  test(
    `${cli} has a denial in the turn that it belongs to, and not in the next one of the same process`,
    { skip },
    async () => {
      const { call, denied } = writes[cli]!
      for (const leash of ['ask', 'read'] as const) {
        const warm = pool()
        await using it = await talk(cli, ({ count }) => (count === 1 ? { call } : { text: `Answer ${count}.` }), {
          warm,
        })
        const first = outcomeOf(await it.say('Make new.txt.', leash))
        const kept = await it.left()
        const second = outcomeOf(await it.say('Go on.', leash))
        const denials = first?.ok
          ? first.denials?.map((text) => denied.test(text.replace(`${it.place().cwd}/`, '')))
          : first
        assert.deepEqual([leash, denials, second], [leash, [true], { ok: true, text: 'Answer 3.' }])
        assert.deepEqual([kept.length > 0, await it.left()], [true, kept])
        await warm.close()
      }
    },
  )

  test(`${cli} is kept after a turn whose commands have exited`, { skip }, async () => {
    const warm = pool()
    const calls: Script = ({ count }) => (count === 1 ? { call: shell('echo hello') } : { text: `Answer ${count}.` })
    await using it = await talk(cli, calls, { warm })
    await it.say('Say hello.', 'all')
    const after = await it.left()
    await it.say('Again.', 'all')
    assert.deepEqual([after.length > 0, await it.left()], [true, after])
    await warm.close()
  })
}

test(
  'claude is not kept while a subagent of it works on in the background, which ends with it',
  { skip: skipped('claude') },
  async () => {
    const warm = pool()
    const input = {
      description: 'helps',
      prompt: 'Work on.',
      subagent_type: 'general-purpose',
      run_in_background: true,
    }
    const delegates: Script = ({ text, count }) => {
      if (!text.includes('Start a helper.')) return { hang: true }
      return count === 1 ? { call: { tool: 'Agent', input } } : { text: 'It works.' }
    }
    await using it = await talk('claude', delegates, { warm })
    const turn = await it.say('Start a helper.', 'all')
    const helpers = it.server.turns().filter(({ text }) => !text.includes('Start a helper.')).length
    assert.deepEqual([outcomeOf(turn), helpers, await it.left()], [{ ok: true, text: 'It works.' }, 1, []])
    await warm.close()
  },
)
