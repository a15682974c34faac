import type { TestContext } from 'node:test'
import type { DeskControls } from '../../src/desk/desk-controls.ts'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { planCommand } from '../../src/desk/slash/agents/mode.ts'
import { wallUsers } from '../safety/behind-wall.ts'
import { closings, folderOf, questions, replies, seat, sitDown } from './desk.ts'

const options = { timeout: 60_000 }
const cli = join(import.meta.dirname, 'planning-cli.ts')

/** The agents whose program is the stand-in, and the words of their prompts in which it plans. */
const agents: Readonly<Record<string, AgentSettings>> = {
  claude: { name: 'claude', kind: 'pipe', profile: 'claude', leash: 'edit', contextWindowTokens: 100_000 },
  codex: { name: 'codex', kind: 'pipe', profile: 'codex', leash: 'edit', contextWindowTokens: 100_000 },
}

/** A desk with stand-ins for these CLIs, and how they were started and asked so far. */
async function planners(t: TestContext, ...names: string[]) {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'bin'))
  for (const name of names)
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\nexec '${process.execPath}' '${cli}' ${name} "$@"\n`, {
      mode: 0o755,
    })
  const sat = await sitDown(
    t,
    folder,
    {},
    {
      path: `${join(folder, 'bin')}:${process.env.PATH}`,
      commands: (controls: DeskControls) => [planCommand(controls)],
      agents: names.map((name) => agents[name]!),
    },
  )
  sat.desk.setScreen(seat())
  const started = (): Record<string, any>[] =>
    readFileSync(join(folder, 'started.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { ...sat, folder, started, isBuilt: () => existsSync(join(folder, 'project', 'painted.txt')) }
}

/** The person's last words in a prompt, whose other parts tell of the conversation. */
const lastWords = (prompt: string) =>
  /<message from="user">\n((?:(?!<message).)*)\n<\/message>(?!.*<message)/s.exec(prompt)?.[1] ?? prompt.split('\n')[0]

type Planning = Awaited<ReturnType<typeof planners>>

/** Plans, and answers the card about the plan. */
async function planned({ desk, heard, until }: Planning, ...picks: string[]) {
  desk.submit('/plan Paint it.')
  await until((all) => questions(all).length === 1)
  const [{ ask, question }] = questions(heard) as [ReturnType<typeof questions>[0]]
  desk.answer(ask, picks)
  return question
}

test(
  'a plan of Claude Code is put to the person as a card; a yes builds it on the agent’s own leash',
  options,
  async (t) => {
    const planning = await planners(t, 'claude')
    const { text, shows, agent } = await planned(planning, 'build')
    assert.deepEqual(
      { text, shows, agent, isBuilt: planning.isBuilt() },
      { text: 'Build this plan?', shows: [{ type: 'text', text: '# Paint it red' }], agent: 'claude', isBuilt: false },
    )
    await planning.until((all) => closings(all).length === 2)
    const { desk, heard, started, isBuilt } = planning
    assert.deepEqual(replies(heard), ['# Paint it red', 'Painted.'])
    const modes = started().map(({ mode, answer }) => (answer ? [mode, answer.behavior, answer.interrupt] : [mode]))
    assert.deepEqual(
      { modes, mode: desk.app().mode, isBuilt: isBuilt() },
      { modes: [['plan'], ['plan', 'deny', true], ['acceptEdits']], mode: 'chat', isBuilt: true },
    )
    assert.match(started()[2]!.prompt, /\n<plan>\n# Paint it red\n<\/plan>$/m)
  },
)

test('a refused plan leaves plan mode as it is, and nothing is built', options, async (t) => {
  const planning = await planners(t, 'claude')
  await planned(planning, 'drop')
  await planning.until((all) => all.filter(({ type }) => type === 'said').length === 1)
  const { desk, started, isBuilt } = planning
  assert.deepEqual([desk.app().mode, started().map(({ mode }) => mode), isBuilt()], ['plan', ['plan', 'plan'], false])
})

test('the person’s words go back to the agent, which plans again', options, async (t) => {
  const planning = await planners(t, 'claude')
  await planned(planning, 'Paint it blue.')
  await planning.until((all) => questions(all).length === 2)
  const { desk, started, isBuilt } = planning
  const prompts = started().flatMap(({ mode, prompt }) => (prompt === undefined ? [] : [[mode, lastWords(prompt)]]))
  assert.deepEqual(
    [desk.app().mode, prompts, isBuilt()],
    [
      'plan',
      [
        ['plan', 'Paint it.'],
        ['plan', 'Paint it blue.'],
      ],
      false,
    ],
  )
})

test(
  'a plan of Codex is made in its plan mode in a read-only sandbox, and its thread leaves that mode to build',
  options,
  async (t) => {
    const planning = await planners(t, 'codex')
    const { shows } = await planned(planning, 'build')
    assert.deepEqual([shows, planning.isBuilt()], [[{ type: 'text', text: '# Paint it red' }], false])
    await planning.until((all) => closings(all).length === 2)
    assert.deepEqual(
      planning.started().map(({ mode, sandbox }) => [mode, /sandbox_mode=(\S+)/.exec(sandbox)?.[1]]),
      [
        ['plan', 'read-only'],
        ['default', 'workspace-write'],
      ],
    )
    assert.deepEqual([replies(planning.heard), planning.isBuilt()], [['# Paint it red', 'Painted.'], true])
  },
)

test('an agent that takes over a plan turn plans too, and builds nothing', options, async (t) => {
  const planning = await planners(t, 'claude', 'codex')
  writeFileSync(join(planning.folder, 'bin', 'claude'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
  const { agent } = await planned(planning, 'drop')
  await planning.until((all) => all.filter(({ type }) => type === 'said').length === 1)
  assert.deepEqual([agent, planning.started().map(({ mode }) => mode), planning.isBuilt()], ['codex', ['plan'], false])
})

test(
  'a command of the person’s own plans in a sandbox and writes nothing, and builds without one',
  { ...options, skip: wallUsers[0]!.skip },
  async (t) => {
    const folder = folderOf(t)
    const mine = 'cat >/dev/null; echo red > painted.txt; echo "# Paint it"'
    const commands = (controls: DeskControls) => [planCommand(controls)]
    const sat = await sitDown(t, folder, { mine }, { commands })
    sat.desk.setScreen(seat())
    const isBuilt = () => existsSync(join(folder, 'project', 'painted.txt'))
    const planning = { ...sat, folder, started: () => [], isBuilt }
    const { shows } = await planned(planning, 'build')
    assert.deepEqual([shows, isBuilt()], [[{ type: 'text', text: '# Paint it' }], false])
    await sat.until((all) => closings(all).length === 2)
    assert.deepEqual([replies(sat.heard), isBuilt()], [['# Paint it', '# Paint it'], true])
  },
)
