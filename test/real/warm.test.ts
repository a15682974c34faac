import type { TurnTerms } from '../../src/core/profile/turn-terms.ts'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Ask } from '../../src/core/talk/question.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
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

const walk: readonly Leash[] = ['ask', 'edit', 'ask', 'all', 'read', 'edit', 'ask', 'read']

/** Each turn of the walk, in which the model calls for a command that makes a file: its process, and what became of the file. */
const walked: Readonly<Record<string, readonly string[]>> = {
  claude: [
    ...['1: ask asks, not made', '1: edit made', '1: ask asks, not made', '2: all made'],
    ...['3: read not made', '4: edit made', '4: ask asks, not made', '5: read not made'],
  ],
  codex: [
    ...['1: ask not made', '1: edit made', '1: ask not made', '1: all made'],
    ...['1: read not made', '1: edit made', '1: ask not made', '1: read not made'],
  ],
  pi: [
    ...['1: ask not made', '1: edit not made', '1: ask not made', '2: all made'],
    ...['3: read not made', '3: edit not made', '3: ask not made', '3: read not made'],
  ],
}

const choices: readonly Omit<TurnTerms, 'leash'>[] = [
  {},
  { model: 'other-model' },
  { model: 'other-model', effort: 'low' },
  { model: 'third-model', effort: 'high' },
]

/** Each of these turns: its process, and the model and the effort that its request names. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  claude: ['1: claude-opus-5-5 medium', '1: other-model high', '1: other-model low', '1: third-model high'],
  codex: ['1: mock-model none', '1: other-model none', '1: other-model low', '1: third-model high'],
  pi: ['1: mock-model none', '1: other-model none', '1: other-model low', '1: third-model high'],
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

  test(`${cli} runs each turn in a process that has its leash`, { skip }, async () => {
    const warm = pool()
    let at = 0
    let tried = -1
    const asked = new Set<number>()
    const ask: Ask = async () => {
      asked.add(at)
      return undefined
    }
    const writes: Script = () => {
      const isFirst = tried !== at
      tried = at
      return isFirst ? { call: shell(`touch made-${at}`) } : { text: 'That is all.' }
    }
    await using it = await talk(cli, writes, { warm, ask })
    const processes: string[] = []
    const seen: string[] = []
    for (const leash of walk) {
      await it.say('Make a file.', leash)
      const pids = (await it.left()).join(' ')
      if (!processes.includes(pids)) processes.push(pids)
      const isMade = existsSync(join(it.place().cwd, `made-${at}`))
      seen.push(
        `${processes.indexOf(pids) + 1}: ${leash} ${asked.has(at) ? 'asks, ' : ''}${isMade ? 'made' : 'not made'}`,
      )
      at++
    }
    await warm.close()
    assert.deepEqual(seen, walked[cli])
  })

  test(`${cli} changes its model and its effort in the process that waits`, { skip }, async () => {
    const warm = pool()
    let now: (typeof choices)[number] = {}
    await using it = await talk(cli, hello, { warm, model: () => now.model, effort: () => now.effort })
    const processes: string[] = []
    const seen: string[] = []
    for (now of choices) {
      assert.equal(outcomeOf(await it.say('A question.', 'ask'))?.ok, true)
      const pids = (await it.left()).join(' ')
      if (!processes.includes(pids)) processes.push(pids)
      const { body } = it.server.turns().at(-1)!
      const effort = body.output_config?.effort ?? body.reasoning?.effort ?? body.reasoning_effort ?? 'none'
      seen.push(`${processes.indexOf(pids) + 1}: ${body.model} ${effort}`)
    }
    await warm.close()
    assert.deepEqual(seen, chosen[cli])
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
  'claude goes back to the model and the effort of its settings in the same process',
  { skip: skipped('claude') },
  async () => {
    const warm = pool()
    let now: (typeof choices)[number] = {}
    await using it = await talk('claude', hello, { warm, model: () => now.model, effort: () => now.effort })
    const processes = new Set<string>()
    const asked: string[] = []
    for (now of [{}, { model: 'other-model', effort: 'max' } as const, {}]) {
      await it.say('A question.', 'ask')
      processes.add((await it.left()).join(' '))
      const { body } = it.server.turns().at(-1)!
      asked.push(`${body.model} ${body.output_config?.effort}`)
    }
    await warm.close()
    assert.deepEqual(
      [processes.size, asked],
      [1, ['claude-opus-5-5 medium', 'other-model max', 'claude-opus-5-5 medium']],
    )
  },
)

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
