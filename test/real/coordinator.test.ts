import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { Answer, Asked } from './model-server.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { ended, start as program } from '../cli/program.ts'
import { noTmux } from '../terminals/real.ts'
import { until } from '../until.ts'
import { modelServer } from './model-server.ts'
import { installed, rigAll } from './rig.ts'

const missing = (...clis: string[]) => {
  const lacks = clis.filter((cli) => !installed(cli))
  return lacks.length > 0 && `not installed: ${lacks.join(', ')}`
}

const isWorker = ({ text }: Asked) => text.includes('You are a worker:')

/** How often the model of a turn has called already, by the results that it is sent. */
const called = ({ text }: Asked) =>
  text.split(/"type":"(?:tool_result|function_call_output)"|"role":"tool"|"functionResponse":/).length - 1

const handoff = (done: string, more: object = {}) =>
  JSON.stringify({
    what_was_done: done,
    evidence: ['a.txt:1 says hi'],
    unresolved_risks: [],
    exact_next_step: 'None.',
    status: 'completed',
    ...more,
  })

const wish = (name: string, agent: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  prompt: `Task ${name}`,
  role: 'explorer',
  agent,
  ...more,
})

type Agents = readonly Record<string, unknown>[]

/** The built program with real CLIs on scripted models, in a home and a repository of its own. */
async function machine(t: TestContext, agents: (url: string) => Agents, script: (asked: Asked) => Answer) {
  const model = await modelServer(script)
  const rig = await rigAll(model.url)
  t.after(async () => {
    await model.close()
    await rig[Symbol.asyncDispose]()
  })
  const home = join(rig.root, 'termaite')
  mkdirSync(home, { mode: 0o700 })
  execFileSync('git', ['init', '-q', rig.cwd], { env: rig.env })
  writeFileSync(join(rig.cwd, 'a.txt'), 'hi\n')
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ metaInstruction: false, agents: agents(model.url) }))
  // The answers that a person has given on Claude Code's own dialogs before.
  const trusted = { [rig.cwd]: { hasTrustDialogAccepted: true } }
  const agreed = { customApiKeyResponses: { approved: ['made-up'], rejected: [] } }
  const known = { hasCompletedOnboarding: true, theme: 'dark', ...agreed, projects: trusted }
  writeFileSync(join(rig.env.HOME!, '.claude.json'), JSON.stringify(known))
  writeFileSync(join(rig.env.HOME!, '.profile'), `PATH='${rig.env.PATH}'\n`)
  const env = { ...rig.env, TERMAITE_HOME: home, SHELL: '/bin/sh', TERM: 'xterm-256color' }
  const start = (...args: string[]): ChildProcess => {
    const child = spawn(program[0], [...program.slice(1), ...args], {
      cwd: rig.cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  return {
    model,
    cwd: rig.cwd,
    start,
    run: (...args: string[]) => ended(start(...args)),
    history(): Entry[] {
      const [slug] = readdirSync(join(home, 'projects'))
      const lines = readFileSync(join(home, 'projects', slug!, 'history.jsonl'), 'utf8').trim()
      return lines.split('\n').map((line) => JSON.parse(line) as Entry)
    },
    /** The processes that carry this home in their environment: our own, the CLIs, tmux and what runs in its panes. */
    async left(): Promise<string[]> {
      const pids = (await processTable()).map(({ pid }) => pid)
      const ours = await Promise.all(pids.map((pid) => carries(pid, rig.root)))
      return pids.filter((_, at) => ours[at]).map((pid) => commandOf(pid))
    },
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return `${pid}, which is gone`
  }
}

const native = (url: string) => ({
  name: 'native',
  kind: 'native',
  model: 'anthropic/claude-sonnet-4-5',
  baseURL: `${url}/v1`,
  contextWindowTokens: 200_000,
})
const claude = { name: 'claude', profile: 'claude', contextWindowTokens: 200_000 }
const gemini = { name: 'gemini', profile: 'gemini', kind: 'acp', contextWindowTokens: 1_000_000 }

const both = [wish('seen', 'claude', { where: 'terminal' }), wish('unseen', 'gemini')]

const agents = (url: string) => [native(url), claude, gemini]

/** The lead spawns both, waits for both, and answers for both. */
function leading(asked: Asked): Answer {
  if (called(asked) === 0) return { call: { tool: 'spawn_workers_batch', input: { workers: both } } }
  if (called(asked) === 1) return { call: { tool: 'await_workers', input: {} } }
  return { text: 'worker_1 and worker_2 looked: a.txt says hi.' }
}

/** The handoffs that a lead was told, as they stand in its request. */
const handoffsIn = ({ text }: Asked) => [...text.matchAll(/Handoff of (worker_\d+)/g)].map(([, worker]) => worker)

describe('our own agent leads Claude Code in a terminal and Gemini over ACP', { concurrency: true }, () => {
  const skip = noTmux || missing('claude', 'gemini')

  test('both hand over, the answer is for both, and nothing is left running', { skip }, async (t) => {
    const roles: string[] = []
    const it = await machine(t, agents, (asked) => {
      if (!isWorker(asked)) return leading(asked)
      roles.push(asked.wire)
      return { text: handoff(`${asked.wire} looked.`) }
    })
    const { code, out, err } = await it.run('-p', 'look at it', '--mode', 'coordinator')
    assert.deepEqual({ code, out }, { code: 0, out: 'worker_1 and worker_2 looked: a.txt says hi.\n' }, err)
    const last = it.model.turns().at(-1)!
    assert.deepEqual(
      {
        workers: roles.sort(),
        handoffs: handoffsIn(last),
        told: ['anthropic looked.', 'gemini looked.'].map((words) => last.text.includes(words)),
        // A worker's own work stays with the worker.
        transcript: last.text.includes('You are a worker:'),
        left: await it.left(),
      },
      {
        workers: ['anthropic', 'gemini'],
        handoffs: ['worker_1', 'worker_2'],
        told: [true, true],
        transcript: false,
        left: [],
      },
    )
  })

  test('Ctrl+C ends both with everything that they started', { skip }, async (t) => {
    const { it, child } = await atWork(t)
    child.kill('SIGINT')
    const { code, err } = await ended(child)
    assert.deepEqual(
      { code, left: await it.left(), told: err.includes('Stopped with the turn: worker_1, worker_2.') },
      { code: 130, left: [], told: true },
      err,
    )
  })

  test('both end with a termaite that is killed, and the next start goes on', { skip }, async (t) => {
    const { it, child, goOn } = await atWork(t)
    child.kill('SIGKILL')
    await ended(child)
    await until(async () => (await it.left()).length === 0)
    goOn()
    const { code, out, err } = await it.run('-p', 'go on', '--mode', 'coordinator')
    assert.deepEqual(
      { code, out, left: await it.left() },
      { code: 0, out: 'It goes on without worker_1 and worker_2.\n', left: [] },
      err,
    )
    assert.match(err, /termaite stopped during an earlier turn, and its workers stopped with it: worker_1, worker_2\./)
  })

  /** A coordinator whose two workers are in the middle of their work. */
  async function atWork(t: TestContext) {
    const waiting = new Set<string>()
    let goesOn = false
    const it = await machine(t, agents, (asked) => {
      if (!isWorker(asked) && !goesOn) return leading(asked)
      if (!isWorker(asked))
        return handoffsIn(asked).length === 2
          ? { text: 'It goes on without worker_1 and worker_2.' }
          : { call: { tool: 'await_workers', input: {} } }
      waiting.add(asked.wire)
      return { hang: true }
    })
    const child = it.start('-p', 'look at it', '--mode', 'coordinator')
    await until(() => waiting.size === 2)
    return { it, child, goOn: () => void (goesOn = true) }
  }
})

/** The attempts of an explorer's model: to write a file by a tool for that, and by a command. */
const attempts: Record<string, (folder: string) => { tool: string; input: unknown }[]> = {
  claude: (folder) => [
    { tool: 'Write', input: { file_path: join(folder, 'planted-by-claude'), content: 'x' } },
    { tool: 'Bash', input: { command: 'echo x >planted-by-claude', description: 'plants it' } },
  ],
  codex: () => [
    { tool: 'exec_command', input: { cmd: 'echo x >planted-by-codex' } },
    {
      tool: 'exec_command',
      input: { cmd: 'echo x >planted-by-codex', sandbox_permissions: 'require_escalated', justification: 'I must.' },
    },
  ],
  gemini: (folder) => [
    { tool: 'write_file', input: { file_path: join(folder, 'planted-by-gemini'), content: 'x' } },
    { tool: 'run_shell_command', input: { command: 'echo x >planted-by-gemini' } },
  ],
  qwen: (folder) => [
    { tool: 'write_file', input: { file_path: join(folder, 'planted-by-qwen'), content: 'x' } },
    { tool: 'run_shell_command', input: { command: 'echo x >planted-by-qwen', is_background: false } },
  ],
}

/** A CLI that leads by the MCP server of its turn answers too early once, then waits, and names no worker in its answer. */
function early(asked: Asked): Answer {
  const tool = (name: string) => new RegExp(`"name":"([^"]*${name})"`).exec(asked.text)?.[1] ?? name
  if (called(asked) === 0)
    return { call: { tool: tool('spawn_workers_batch'), input: { workers: [wish('one', 'native')] } } }
  if (!asked.text.includes('Your answer is kept')) return { text: 'Too early.' }
  if (called(asked) === 1) return { call: { tool: tool('await_workers'), input: {} } }
  return { text: 'At last: a.txt says hi.' }
}

/** The results of the calls as a model was sent them, whatever wire they went over. */
function resultsIn({ body }: Asked): string[] {
  const parts = [...(body.messages ?? []), ...(body.input ?? [])].flatMap((message) =>
    Array.isArray(message.content) ? message.content : [message],
  )
  return parts
    .filter(({ type }) => type === 'tool_result' || type === 'function_call_output')
    .map((part) => wordsIn(part.content ?? part.output))
}

const wordsIn = (content: unknown): string =>
  Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? '').join('\n') : String(content)

describe('a CLI leads by the MCP server of its turn', { concurrency: true }, () => {
  for (const lead of ['claude', 'codex'])
    test(
      `${lead} is told the state of its workers with each result, and answers when all are heard`,
      {
        skip: missing(lead),
      },
      async (t) => {
        const it = await machine(
          t,
          (url) => [native(url), { name: lead, profile: lead, contextWindowTokens: 200_000 }],
          (asked) => (isWorker(asked) ? { text: handoff('I looked.') } : early(asked)),
        )
        const { code, out, err } = await it.run('-p', 'look at it', '--mode', 'coordinator', '-a', lead)
        assert.deepEqual(
          { code, out, left: await it.left() },
          {
            code: 0,
            out: 'At last: a.txt says hi.\n\nWorkers that the answer does not name:\n- worker_1 (explorer, one; native, anthropic/claude-sonnet-4-5): completed. I looked.\n',
            left: [],
          },
          err,
        )
        const [first, , , last] = it.model.turns().filter((asked) => !isWorker(asked)) as [Asked, Asked, Asked, Asked]
        assert.match(first.text, /You are a coordinator: you can send workers/)
        const [spawned, awaited] = resultsIn(last) as [string, string]
        assert.match(
          spawned,
          /worker_1: explorer \\?"one\\?" by native, \w+[^]*The state of your workers now: 1 running/,
        )
        assert.match(awaited, /Handoff of worker_1[^]*I looked\.[^]*0 running, 0 handoffs not read, 1 read/)
      },
    )

  test(
    'an explorer on any CLI writes nothing, whatever its model tries',
    {
      skip: noTmux || missing(...Object.keys(attempts)),
    },
    async (t) => {
      const explorers = Object.keys(attempts)
      const tried: Record<string, number> = {}
      const it = await machine(
        t,
        (url) => [
          native(url),
          claude,
          gemini,
          { name: 'codex', profile: 'codex', contextWindowTokens: 200_000 },
          { name: 'qwen', profile: 'qwen', contextWindowTokens: 200_000 },
        ],
        (asked) => {
          const explorer = explorers.find((name) => asked.text.includes(`Task plant-${name}`) && isWorker(asked))
          if (explorer !== undefined) {
            const count = (tried[explorer] = called(asked))
            const call = attempts[explorer]!(it.cwd)[count]
            return call ? { call } : { text: handoff('I tried.') }
          }
          const where = (name: string) => (name === 'claude' ? 'terminal' : 'background')
          const workers = explorers.map((name) => wish(`plant-${name}`, name, { where: where(name) }))
          if (called(asked) === 0) return { call: { tool: 'spawn_workers_batch', input: { workers } } }
          if (called(asked) === 1) return { call: { tool: 'await_workers', input: {} } }
          return { text: 'worker_1, worker_2, worker_3 and worker_4 tried.' }
        },
      )
      const { code, err } = await it.run('-p', 'plant it', '--mode', 'coordinator')
      assert.deepEqual(
        { code, tried, files: readdirSync(it.cwd) },
        { code: 0, tried: { claude: 2, codex: 2, gemini: 2, qwen: 2 }, files: ['.git', 'a.txt'] },
        err,
      )
    },
  )

  test('a CLI that can be given no tools says so and does nothing', { skip: missing('gemini') }, async (t) => {
    const { kind: _kind, ...piped } = gemini
    const it = await machine(
      t,
      () => [piped],
      () => ({ text: 'Not asked.' }),
    )
    const { code, out, err } = await it.run('-p', 'look at it', '--mode', 'coordinator')
    assert.deepEqual({ code, out, asked: it.model.turns().length }, { code: 1, out: '', asked: 0 })
    assert.match(err, /None of your agents can lead workers, because their programs take no tools for one turn\./)
  })
})
