import type { TestContext } from 'node:test'
import type { Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { collect } from '../../src/base/process/collect.ts'
import { processTable } from '../../src/base/process/process-table.ts'
import { killed } from '../base/alive.ts'
import { start } from '../cli/program.ts'
import { sized } from '../full.ts'
import { noTmux } from '../terminals/real.ts'
import { until } from '../until.ts'
import { answerBefore, endTmux, ways } from './agent-rig.ts'
import { modelServer } from './model-server.ts'
import { screenRig } from './screen-rig.ts'
import { skipped } from './turns.ts'

/** The prompts of these tests, as a model gets them. */
const prompts = /(?:prompt number|after kill) \d+\./g

/** The messages of the person in a request, oldest first. */
const messagesOf = ({ body }: Asked): string[] =>
  (body.messages ?? body.contents ?? body.input)
    .filter(({ role }: { role?: string }) => role === 'user')
    .map((message: object) => JSON.stringify(message))

/** A real CLI in a slot of a crew, in tmux; its model asks to run a command where a prompt says so. */
async function crewOf(t: TestContext, cli: string) {
  const { shell, answered } = ways[cli]!
  // Codex runs a command in its sandbox without a question, unless the model asks to leave it.
  const leaves = cli === 'codex' ? { sandbox_permissions: 'require_escalated', justification: 'It must be made.' } : {}
  let isMade = false
  let answers = 0
  const model = await modelServer((asked) => {
    if (messagesOf(asked).at(-1)!.includes('which are you?')) return { text: `I am number ${++answers}.` }
    if (isMade || !messagesOf(asked).at(-1)!.includes('make the file')) return { text: 'Well done.' }
    isMade = true
    const { tool, input } = shell('touch made.txt')
    return { call: { tool, input: { ...input, ...leaves } } }
  })
  const rig = await screenRig(cli, model.url)
  rig.env.TMUX_TMPDIR = rig.root
  answerBefore(rig.env.HOME!, answered(rig.cwd))
  /** The processes that run the crew. */
  const keepers = async () => {
    const read = ({ pid }: { pid: number }) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    }
    const all = (await processTable()).filter((one) => read(one).includes('\0crew\0keep\0'))
    return all.filter((one) => read(one).includes(rig.cwd)).map(({ pid }) => pid)
  }
  const run = async (...args: string[]) => {
    const ran = await collect(start[0], [...start.slice(1), ...args], { cwd: rig.cwd, env: rig.env })
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.out.toString()}${ran.err}`)
    return ran.out.toString()
  }
  t.after(async () => {
    for (const pid of await keepers()) killed(pid)
    endTmux(rig.root)
    await model.close()
    await rig[Symbol.asyncDispose]()
  })
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-S', join(rig.root, globSync('tmux-*/*', { cwd: rig.root })[0]!), ...args], {
      encoding: 'utf8',
    }).stdout
  await run('crew', 'spawn', cli, 'begin')
  await run('crew', 'wait', '1', '--timeout', '90')
  return {
    run,
    tmux,
    screen: () => tmux('capture-pane', '-p'),
    /** The mark that the terminal keeps of the last prompt that was pasted. */
    mark: () => tmux('display-message', '-p', '#{@termaite_mark}'),
    async kill() {
      for (const pid of await keepers()) killed(pid)
    },
    keepers,
    state: async () => JSON.parse(await run('crew', 'list', '--json')).agents[0],
    /** The prompts that came in each message to the model, without repeated requests. */
    heard() {
      const last = model.turns().map((asked) => messagesOf(asked).flatMap((text) => [text.match(prompts) ?? []]))
      const each = last.map((messages) => messages.filter((found) => found.length > 0).at(-1) ?? [])
      return each.filter((found, at) => found.length > 0 && `${found}` !== `${each[at - 1]}`)
    },
  }
}

const many = Array.from({ length: 12 }, (_, line) => `line ${line} of the text`).join('\n')
const kills = sized(3, 14)

for (const cli of ['claude', 'codex', 'gemini']) {
  const skip = noTmux || skipped(cli)

  test(
    `${cli}: after ${kills} kills of the keeper between the paste and the Enter of a prompt, each prompt reaches the model once and alone`,
    { skip, timeout: sized(300_000, 900_000) },
    async (t) => {
      const crew = await crewOf(t, cli)
      for (let kill = 1; kill <= kills; kill++) {
        const before = crew.mark()
        // A CLI shows a long paste as "[Pasted text #1 +13 lines]".
        const sent = crew.run('crew', 'send', '1', `prompt number ${kill}.\n${kill % 3 === 0 ? 'end' : many}`)
        await until(() => crew.mark() !== before)
        await crew.kill()
        await sent
        const screen = crew.screen()
        await crew.run('crew', 'send', '1', `after kill ${kill}.`)
        await crew.run('crew', 'wait', '1', '--timeout', '90')
        assert.deepEqual(
          crew.heard().filter((found) => found.some((one) => one.endsWith(` ${kill}.`))),
          [[`prompt number ${kill}.`], [`after kill ${kill}.`]],
          `${screen}\n\nnow:\n${crew.screen()}`,
        )
      }
    },
  )

  test(`${cli}: words that were typed and not sent are not sent with the prompt after a kill`, { skip }, async (t) => {
    const crew = await crewOf(t, cli)
    await crew.kill()
    crew.tmux('send-keys', '-l', 'after kill 7. half a thou')
    await until(() => crew.screen().includes('half a thou'))
    await crew.run('crew', 'send', '1', 'prompt number 8.')
    await crew.run('crew', 'wait', '1', '--timeout', '90')
    assert.deepEqual(crew.heard(), [['prompt number 8.']])
  })

  test(
    `${cli}: a dialog that was open when the keeper was killed is asked about again, and the next prompt waits for it`,
    { skip },
    async (t) => {
      const crew = await crewOf(t, cli)
      await crew.run('crew', 'send', '1', 'prompt number 1. make the file')
      await until(async () => (await crew.state()).state === 'asking')
      const { question } = await crew.state()
      await crew.kill()
      await crew.run('crew', 'send', '1', 'after kill 1.')
      await until(async () => (await crew.state()).state === 'asking')
      assert.deepEqual((await crew.state()).question, question)
      await crew.run('crew', 'answer', '1', '1')
      await crew.run('crew', 'wait', '1', '--timeout', '90')
      assert.deepEqual(crew.heard(), [['prompt number 1.'], ['after kill 1.']])
    },
  )
}

// Codex alone takes no key for a new session, so that its session file is found by other means.
test(
  'codex: agents that get the same prompt at the same time each give their own answer',
  {
    skip: noTmux || skipped('codex'),
  },
  async (t) => {
    const crew = await crewOf(t, 'codex')
    const slots = ['2', '3', '4']
    for (const _ of slots) await crew.run('crew', 'spawn', 'codex')
    await crew.run('crew', 'wait', ...slots, '--timeout', '90')
    for (const turn of [1, 2]) {
      await Promise.all(slots.map((slot) => crew.run('crew', 'send', slot, 'which are you?')))
      await crew.run('crew', 'wait', ...slots, '--timeout', '90')
      const answers = await Promise.all(slots.map((slot) => crew.run('crew', 'artifact', slot)))
      assert.equal(new Set(answers).size, slots.length, `turn ${turn}: ${answers.join('')}`)
    }
  },
)
