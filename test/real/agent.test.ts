import type { Ways } from './agent-rig.ts'
import type { Script } from './model-server.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markOf } from '../../src/terminals/program/terminal-program.ts'
import { optionKeys } from '../../src/core/talk/consent.ts'
import { until } from '../until.ts'
import { agentRig, introduction, storiesOf, storyTold, ways } from './agent-rig.ts'
import { skipped } from './turns.ts'

const killed = ['claude', 'gemini']
const others = ['codex', 'qwen', 'copilot']

const mostLooks = 10

/**
 * A model that says who it is to the hub, unless it is introduced, then does each thing once; in the middle of the second,
 * `cut` is called.
 */
function worker({ shell }: Ways, cut = () => {}, isIntroduced = false): Script {
  let [isKnown, isCut, looks] = [isIntroduced, false, 0]
  return async ({ text, body }) => {
    const said = JSON.stringify(body.messages ?? body.contents ?? body.input)
    const thing = [...said.matchAll(/Do thing (\d)\./g)].at(-1)?.[1]
    const tool = isKnown ? undefined : registering(text)
    if (tool !== undefined) {
      isKnown = true
      return introduction(tool, said)
    }
    if (thing === undefined) return { text: 'ready' }
    // A CLI may begin before its servers are there: it is given something to do until they are.
    if (!isKnown && looks < mostLooks) return { call: shell(`sleep 1; echo ${++looks}`) }
    // As it is told to: it looks at what is done first, because a killed CLI may have lost the end of its own journal.
    const file = `thing-${thing}.txt`
    const command = `grep -qs made ${file} || echo made-${thing} >> ${file}; echo made-${thing}`
    const results = said.replaceAll(/echo made-\d/g, '')
    if (!results.includes(`made-${thing}`)) return { call: shell(command) }
    if (thing !== '2' || isCut) return { text: `Thing ${thing} is made.` }
    isCut = true
    cut()
    return { hang: true }
  }
}

/** The name of the registering tool in each CLI: Claude names it in words alone, behind an escaped line end, Codex in a namespace. */
const registering = (text: string) =>
  /(?:mcp_+)?termaite-hub[_-]+register_agent\b|(?<="name":")register_agent(?=")/.exec(text)?.[0]

/** The CLI itself, among all that runs in its terminal. */
function cliPids(terminal: string): number[] {
  const read = (pid: string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'latin1')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && read(pid, 'environ').includes(markOf(terminal)))
    .filter((pid) => /\0--session-id\0/.test(read(pid, 'cmdline')))
    .map(Number)
}

const skip = (cli: string) => (process.platform === 'linux' ? skipped(cli) : 'only Linux tells whose process is whose')

for (const cli of killed)
  test(
    `${cli} does three tasks of the hub, is killed in the middle of the second, and does nothing twice`,
    { skip: skip(cli), timeout: 120_000 },
    async (t) => {
      const pids: number[] = []
      const cut = () => {
        for (const pid of cliPids(rig.session().terminal)) pids.push(pid) && process.kill(pid, 'SIGKILL')
      }
      const rig = await agentRig(t, cli, ways[cli]!.answered, worker(ways[cli]!, cut))
      for (const thing of [1, 2, 3]) await rig.add(`Do thing ${thing}.`)
      const { tasks, lines } = await rig.work()

      const told = await storiesOf(
        rig.hub,
        tasks.toSorted((a, b) => (a.prompt < b.prompt ? -1 : 1)),
      )
      assert.deepEqual(told, [1, 2, 3].map(storyTold), lines)
      assert.equal(pids.length > 0, true)
      assert.deepEqual(await known(rig.hub), [{ source: 'CLI', workspace: rig.cwd, capabilities: ['typescript'] }])
      assert.match(lines, /was killed by a signal \(9\)/)
      assert.match(lines, /restarted in its session[^]*task \w{8} is done: Thing 2 is made\./)
      assert.match(lines, farewell)
      const branches = (await rig.git('branch', '--list', '--format=%(refname:short)', 'termaite/*')).trim().split('\n')
      assert.deepEqual(branches, tasks.map(({ id }) => `termaite/task-${id.slice(-8)}`).sort())
      assert.equal(await rig.git('status', '--porcelain'), '')
    },
  )

// These CLIs wait for their own start more than for each other.
describe('the other CLIs at the hub', { concurrency: 3 }, () => {
  for (const cli of others)
    test(`${cli} registers by the hub's tools and does a task`, { skip: skip(cli), timeout: 90_000 }, async (t) => {
      const rig = await agentRig(t, cli, ways[cli]!.answered, worker(ways[cli]!))
      await rig.add('Do thing 1.')
      const { tasks, lines } = await rig.work()
      assert.deepEqual(await storiesOf(rig.hub, tasks), [storyTold(1)], lines)
      assert.deepEqual(await known(rig.hub), [{ source: 'CLI', workspace: rig.cwd, capabilities: ['typescript'] }])
      assert.match(lines, farewell)
      assert.equal(await rig.git('status', '--porcelain'), '')
      await merges(rig, tasks[0]!.id)
    })
})

test(
  'the dialogs of an unattended claude at leash ask are questions at the hub, and it goes on with their answers',
  { skip: skip('claude'), timeout: 120_000 },
  async (t) => {
    const { shell } = ways.claude!
    const rig = await agentRig(
      t,
      'claude',
      () => ({}),
      worker({ shell, answered: () => ({}) }, () => {}, true),
    )
    await rig.add('Do thing 1.')
    const answered: string[] = []
    const { tasks, lines } = await rig.work('ask', async () => {
      // Each open question is answered by the first column of its row: an agent's name, or the id of a task.
      for (const wanted of [/trust/i, /API key/, /thing-1\.txt/]) {
        const asked = async () => (await rig.hub.agents())[0]?.asks?.text ?? 'nothing'
        await until(async () => wanted.test(await asked())).catch(async (error) =>
          assert.fail(`${error}; it asks ${await asked()}`),
        )
        const [agent] = await rig.hub.agents()
        const { options } = agent!.asks!
        const yes = optionKeys(options)[options.findIndex(({ label }) => /^Yes/.test(label))]
        const [, name] = /^(\S+) +ASKING /m.exec((await rig.run('task', 'list')).out) ?? []
        const { code, out, err } = await rig.run('task', 'answer', name!, String(yes))
        assert.equal(code, 0, err)
        answered.push(out.replaceAll(agent!.id, '<agent>').replace(/^\w{8}/, '<task>'))
      }
    })
    assert.deepEqual(await storiesOf(rig.hub, tasks), [storyTold(1)], lines)
    assert.deepEqual(answered, ['<agent> answered\n', '<agent> answered\n', '<task> ASSIGNED <agent>\n'])
    assert.deepEqual(
      tasks[0]!.notes
        .map(({ kind, by }) => [kind, by === tasks[0]!.agent ? 'agent' : by])
        .filter(([kind]) => kind !== 'progress'),
      [
        ['question', 'agent'],
        ['answer', 'user'],
        ['response', 'agent'],
      ],
    )
    assert.equal((await rig.hub.agents())[0]!.asks, undefined)
  },
)

/** The work arrives: the task names its branch and its changes, and approving it merges them and leaves no branch. */
async function merges(rig: Awaited<ReturnType<typeof agentRig>>, id: string): Promise<void> {
  const branch = `termaite/task-${id.slice(-8)}`
  const shown = await rig.run('task', 'show', id)
  assert.match(shown.out, new RegExp(`${branch}[^]*thing-1\\.txt`), shown.err)
  const merged = await rig.run('task', 'approve', id, '--merge', '--yes')
  assert.equal(merged.code, 0, merged.err)
  assert.equal(readFileSync(join(rig.cwd, 'thing-1.txt'), 'utf8'), 'made-1\n')
  assert.equal(await rig.git('branch', '--list', branch), '')
  assert.equal(await rig.git('status', '--porcelain'), '')
}

const farewell = /Tokens: [\d,]+ \([\d,]+ reported\)\nResume with: termaite agent --start=\w+ --as=orc --resume\n$/

/** The agents that the hub knows, as they registered themselves. */
async function known(hub: Awaited<ReturnType<typeof agentRig>>['hub']) {
  return (await hub.agents()).map(({ source, workspace, capabilities }) => ({ source, workspace, capabilities }))
}
