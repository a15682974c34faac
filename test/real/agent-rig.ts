import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import type { Script } from './model-server.ts'
import assert from 'node:assert/strict'
import { diffText } from '../hub/engine/diff-text.ts'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { collect } from '../../src/base/process/collect.ts'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { slugOf } from '../../src/home/project.ts'
import { start } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { screenRig } from './screen-rig.ts'

const author = { GIT_AUTHOR_NAME: 'x', GIT_AUTHOR_EMAIL: 'x@y', GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x@y' }

/** The answers that a person has given on a CLI's own dialogs before, as texts of its files: that the folder is trusted, for example. */
export type Answered = (folder: string) => Record<string, string>

/** How a CLI is told to run a command, and what a person has answered on its own dialogs before. */
export type Ways = { shell(command: string): { tool: string; input: object }; answered: Answered }

export const ways: Record<string, Ways> = {
  claude: {
    shell: (command) => ({ tool: 'Bash', input: { command } }),
    answered: (folder) => ({
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['made-up'], rejected: [] },
        projects: { [folder]: { hasTrustDialogAccepted: true } },
      }),
    }),
  },
  gemini: {
    shell: (command) => ({ tool: 'run_shell_command', input: { command } }),
    answered: (folder) => ({ '.gemini/trustedFolders.json': JSON.stringify({ [folder]: 'TRUST_FOLDER' }) }),
  },
  codex: {
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    answered: (folder) => ({
      '.codex/config.toml': `\n[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`,
    }),
  },
  qwen: {
    shell: (command) => ({ tool: 'run_shell_command', input: { command, is_background: false } }),
    answered: () => ({}),
  },
  copilot: {
    shell: (command) => ({ tool: 'bash', input: { command, description: 'makes a file' } }),
    answered: (folder) => ({ '.copilot/config.json': JSON.stringify({ trusted_folders: [folder] }) }),
  },
}

/** Writes the answers that a person has given on a CLI's own dialogs about this folder. */
export function answerBefore(home: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    if (path.endsWith('.json')) rmSync(join(home, path), { force: true })
    appendFileSync(join(home, path), text)
  }
}

/** A real CLI on a scripted model, a hub, and a repository in which it is to work; `files` are further files of it. */
export async function agentRig(
  t: TestContext,
  cli: string,
  answered: Answered,
  script: Script,
  files: Record<string, string> = {},
) {
  const server = await modelServer(script)
  t.after(() => server.close())
  const place = await screenRig(cli, server.url)
  const supervisors: ChildProcess[] = []
  t.after(async () => {
    // In this order: a supervisor would start its CLI again, and the sockets of tmux lie in the folder.
    for (const supervisor of supervisors) supervisor.kill('SIGKILL')
    endTmux(place.root)
    await place[Symbol.asyncDispose]()
  })
  const { cwd } = place
  const home = place.env.HOME!
  place.env.TMUX_TMPDIR = place.root
  const worktree = join(home, '.termaite', 'worktrees', slugOf(cwd), `agent-${cli}`)
  answerBefore(home, answered(worktree))
  const git = async (...args: string[]) =>
    (await collect('git', args, { cwd, env: { ...place.env, ...author } })).out.toString()
  for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text)
  await git('add', '-A')
  await git('commit', '-q', '-m', 'first')
  const serve = async (port: string) => {
    const child = spawn(start[0], [...start.slice(1), 'serve', '--port', port], { cwd, env: place.env })
    t.after(() => child.kill('SIGKILL'))
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
    return { child, url: value as string }
  }
  let { child: serving, url } = await serve('0')
  const env = { ...place.env, TERMAITE_HUB: url } as NodeJS.ProcessEnv
  const key = readFileSync(join(home, '.termaite', 'hub.key'), 'utf8').trim()
  const hub = new HubClient({ url, key })
  const waiting = new AbortController()
  t.after(() => waiting.abort())
  const done = async () => {
    for await (const _ of hub.changes(0, waiting.signal)) {
      const tasks = await hub.tasks()
      if (tasks.every(({ state }) => state === 'IN_REVIEW' || state === 'FAILED')) return tasks
    }
    return hub.tasks()
  }
  return {
    cwd,
    git,
    hub,
    url,
    async killHub() {
      const over = once(serving, 'exit')
      serving.kill('SIGKILL')
      await over
    },
    /** Starts the hub again, at the same address. */
    async serveAgain() {
      ;({ child: serving } = await serve(new URL(url).port))
    },
    /** Starts the CLI's supervisor; `lines` is all that it has said so far. */
    start(leash: string, ...flags: string[]) {
      const args = [...start.slice(1), 'agent', `--start=${cli}`, '--leash', leash, '--yes', ...flags]
      const agent = spawn(start[0], args, {
        cwd,
        env: { ...env, ...author },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      supervisors.push(agent)
      let lines = ''
      agent.stderr.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
      return { agent, lines: () => lines }
    },
    /** The session of the agent, as it is kept. */
    session() {
      const folder = join(cwd, '.termaite', 'sessions')
      return JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!, 'session.json'), 'utf8'))
    },
    async add(prompt: string) {
      assert.equal((await collect(start[0], [...start.slice(1), 'task', 'add', prompt], { cwd, env })).code, 0)
    },
    /** Runs a command of ours as the person at the repository does. */
    async run(...args: string[]) {
      const ran = await collect(start[0], [...start.slice(1), ...args], { cwd, env: { ...env, ...author } })
      return { code: ran.code, out: ran.out.toString(), err: ran.err }
    },
    /**
     * Keeps the CLI at work until every task is over, and ends it; `lines` is all that was said meanwhile. `beside` is what
     * a person does during that time.
     */
    async work(leash = 'all', beside = async () => {}): Promise<{ tasks: Task[]; lines: string }> {
      const { agent, lines } = this.start(leash)
      const exited = once(agent, 'exit')
      const left = exited.then(() => assert.fail(`it ended: ${lines()}`))
      const late = once(t.signal, 'abort').then(() => assert.fail(`it is not done: ${lines()}`))
      const [tasks] = await Promise.race([Promise.all([done(), beside()]), left, late])
      left.catch(() => {})
      agent.kill('SIGTERM')
      await exited
      return { tasks, lines: lines() }
    },
  }
}

/** Ends the tmux servers of a rig: a CLI in tmux goes on when its supervisor is killed. */
export function endTmux(folder: string): void {
  for (const socket of globSync('tmux-*/*', { cwd: folder }))
    spawnSync('tmux', ['-S', join(folder, socket), 'kill-server'])
}

/** A model's own first words to the hub: who it is. */
export function introduction(tool: string, said: string) {
  const id = /at the hub is ([\w-]+),/.exec(said)?.[1]
  const workspaceContext = /your project is ([^\s\\]+)\./.exec(said)?.[1] ?? ''
  const input = { agentId: id, role: 'orc', capabilities: ['typescript'], workspaceContext, source: 'CLI' }
  return { call: { tool, input } }
}

export const storiesOf = (hub: HubClient, tasks: readonly Task[]) =>
  Promise.all(
    tasks.map(async (task) => ({
      state: task.state,
      message: task.result?.message,
      diff: (await diffText(hub, task)).split('\n').filter((row) => /^[+-][^+-]/.test(row)),
      handed: task.history.filter((step) => step.state === 'PENDING_ACK').length,
    })),
  )

export const storyTold = (thing: number) => ({
  state: 'IN_REVIEW',
  message: `Thing ${thing} is made.`,
  diff: [`+made-${thing}`],
  handed: 1,
})
