import type { TestContext } from 'node:test'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import type { DeskControls } from '../../src/desk/desk-controls.ts'
import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { planCommand } from '../../src/desk/slash/agents/mode.ts'
import { closings, folderOf, questions, replies, seat, sitDown } from '../desk/desk.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { skipped } from './turns.ts'

const plan = '# Paint it\n\nMake painted.txt with the colour red.'

/** The facts of one CLI that plans. */
type Ways = {
  kind: AgentSettings['kind']
  /** A call of the model that would make this file. */
  build(path: string): { tool: string; input: unknown }
  /** The answer of the model that is the plan. */
  plans: Answer
  /** Whether a request shows that the CLI is in plan mode. */
  isPlanning(asked: Asked): boolean
}

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: painted.txt\n+red\n*** End Patch\nEOF"

const toolsOf = ({ body }: Asked): string[] => (body.tools ?? []).map((tool: any) => tool.name)

const all: Record<string, Ways> = {
  claude: {
    kind: 'pipe',
    build: (path) => ({ tool: 'Write', input: { file_path: path, content: 'red\n' } }),
    plans: { text: plan, call: { tool: 'ExitPlanMode', input: {} } },
    isPlanning: (asked) => asked.text.includes('Plan mode is active') && !toolsOf(asked).includes('Write'),
  },
  codex: {
    kind: 'pipe',
    build: () => ({ tool: 'exec_command', input: { cmd: patch } }),
    plans: { text: `I looked.\n\n<proposed_plan>\n${plan}\n</proposed_plan>\n` },
    // The modes of a thread are developer messages, and the last one counts.
    isPlanning: ({ text }) => text.split('<collaboration_mode>').at(-1)!.startsWith('# Plan Mode'),
  },
  gemini: {
    kind: 'acp',
    build: (path) => ({ tool: 'write_file', input: { file_path: path, content: 'red\n' } }),
    plans: { text: plan },
    isPlanning: (asked) => JSON.stringify(asked.body.systemInstruction).includes('You are operating in **Plan Mode**'),
  },
  qwen: {
    kind: 'acp',
    build: (path) => ({ tool: 'write_file', input: { file_path: path, content: 'red\n' } }),
    plans: { call: { tool: 'exit_plan_mode', input: { plan } } },
    isPlanning: ({ text }) => text.includes('Plan mode is active'),
  },
  copilot: {
    kind: 'acp',
    build: (path) => ({ tool: 'create', input: { path, file_text: 'red\n' } }),
    plans: { text: plan },
    isPlanning: ({ body }) =>
      JSON.stringify(body.messages.findLast(({ role }: any) => role === 'user').content).includes('[[PLAN]]'),
  },
}

/** A desk with one real CLI, whose model tries to build before it plans, and again once the person has approved the plan. */
async function planning(t: TestContext, cli: string, { kind, build, plans }: Ways) {
  const folder = folderOf(t)
  const project = join(folder, 'project')
  const path = join(project, 'painted.txt')
  const server = await modelServer((asked) => {
    const prompt = asked.text
    if (asked.count === 1) return { call: build(path) }
    if (!prompt.includes('which I approved')) return plans
    return asked.count === 3 ? { call: build(path) } : { text: 'Painted.' }
  })
  const place = await rig(cli, server.url)
  t.after(async () => {
    await server.close()
    await place[Symbol.asyncDispose]()
  })
  const agent = { name: cli, kind, profile: cli, leash: 'edit', contextWindowTokens: 100_000 } as AgentSettings
  const sat = await sitDown(
    t,
    folder,
    {},
    {
      env: place.env,
      commands: (controls: DeskControls) => [planCommand(controls)],
      agents: [agent],
    },
  )
  sat.desk.setScreen(seat())
  const files = () => readdirSync(project).filter((name) => !name.startsWith('.'))
  return { ...sat, server, project, files }
}

for (const [cli, ways] of Object.entries(all)) {
  test(`${cli} plans and writes nothing, and builds what the person approved`, { skip: skipped(cli) }, async (t) => {
    const { desk, heard, until, server, project, files } = await planning(t, cli, ways)
    desk.submit('/plan Paint it.')
    await until((all) => questions(all).length === 1 || closings(all).length === 1)
    await until((all) => questions(all).length === 1)
    const [{ ask, question }] = questions(heard) as [ReturnType<typeof questions>[0]]
    assert.deepEqual(
      {
        text: question.text,
        shows: question.shows,
        files: files(),
        planning: server.turns().map((asked) => ways.isPlanning(asked)),
      },
      { text: 'Build this plan?', shows: [{ type: 'text', text: plan }], files: [], planning: [true, true] },
    )
    desk.answer(ask, ['build'])
    await until((all) => closings(all).length === 2)
    assert.deepEqual(replies(heard), [plan, 'Painted.'])
    assert.deepEqual([files(), readFileSync(join(project, 'painted.txt'), 'utf8')], [['painted.txt'], 'red\n'])
    assert.equal(ways.isPlanning(server.turns()[2]!), false)
  })

  test(`${cli} plans again with the person’s words, and writes nothing`, { skip: skipped(cli) }, async (t) => {
    const { desk, heard, until, server, files } = await planning(t, cli, ways)
    desk.submit('/plan Paint it.')
    await until((all) => questions(all).length === 1)
    desk.answer(questions(heard)[0]!.ask, ['Paint it blue.'])
    await until((all) => questions(all).length === 2)
    const last = server.turns().at(-1)!
    assert.deepEqual(
      [desk.app().mode, last.text.includes('Paint it blue.'), ways.isPlanning(last), files()],
      ['plan', true, true, []],
    )
  })
}
