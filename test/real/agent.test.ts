import type { Task } from '../../src/core/work/task.ts'
import type { Script } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { collect } from '../../src/base/collect.ts'
import { markOf } from '../../src/terminals/ending.ts'
import { HubClient } from '../../src/wire/hub/client.ts'
import { slugOf } from '../../src/wire/project.ts'
import { program } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { screenRig } from './screen-rig.ts'
import { skipped } from './turns.ts'

type Env = Record<string, string | undefined>

/** What a person has answered on a CLI's own dialogs before: that the folder is trusted, and the key meant. */
const settled: Record<string, { shell: string; files(home: string, folder: string): Record<string, object> }> = {
  claude: {
    shell: 'Bash',
    files: (_, folder) => ({
      '.claude.json': {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: ['made-up'], rejected: [] },
        projects: { [folder]: { hasTrustDialogAccepted: true } },
      },
    }),
  },
  gemini: {
    shell: 'run_shell_command',
    files: (_, folder) => ({ '.gemini/trustedFolders.json': { [folder]: 'TRUST_FOLDER' } }),
  },
}

/** A model that says who it is to the hub, then does each thing once; in the middle of the second, `cut` is called. */
function worker(shell: string, cut: () => void): Script {
  let [isKnown, isCut] = [false, false]
  return async ({ text, body }) => {
    const said = JSON.stringify(body.messages ?? body.contents)
    const thing = [...said.matchAll(/Do thing (\d)\./g)].at(-1)?.[1]
    // A CLI may begin its first turn before its servers are there, and name their tools in words alone.
    const tool = isKnown ? undefined : /\bmcp_+termaite-hub_+register_agent\b/.exec(text)?.[0]
    if (tool !== undefined) {
      isKnown = true
      const id = /at the hub is ([\w-]+),/.exec(said)?.[1]
      const who = { agentId: id, role: 'orc', capabilities: ['typescript'], workspaceContext: workspaceIn(said) }
      return { call: { tool, input: { ...who, source: 'CLI' } } }
    }
    if (thing === undefined) return { text: 'ready' }
    // As it is told to: it looks at what is done first, because a killed CLI may have lost the end of its own journal.
    const file = `thing-${thing}.txt`
    const command = `grep -qs made ${file} || echo made-${thing} >> ${file}; echo made-${thing}`
    const results = said.replaceAll(/echo made-\d/g, '')
    if (!results.includes(`made-${thing}`)) return { call: { tool: shell, input: { command } } }
    if (thing !== '2' || isCut) return { text: `Thing ${thing} is made.` }
    isCut = true
    cut()
    return { hang: true }
  }
}

const workspaceIn = (said: string) => /your project is ([^\s\\]+)\./.exec(said)?.[1] ?? ''

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

for (const [cli, { shell, files }] of Object.entries(settled))
  test(
    `${cli} does three tasks of the hub, is killed in the middle of the second, and does nothing twice`,
    { skip: process.platform === 'linux' ? skipped(cli) : 'only Linux tells whose process is whose', timeout: 120_000 },
    async (t) => {
      const session = () => {
        const folder = join(cwd, '.termaite', 'sessions')
        return JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!, 'session.json'), 'utf8'))
      }
      const killed: number[] = []
      const cut = () => {
        for (const pid of cliPids(session().terminal)) killed.push(pid) && process.kill(pid, 'SIGKILL')
      }
      const server = await modelServer(worker(shell, cut))
      t.after(() => server.close())
      await using place = await screenRig(cli, server.url)
      const { cwd } = place
      const home = place.env.HOME!
      const worktree = join(home, '.termaite', 'worktrees', slugOf(cwd), `agent-${cli}`)
      for (const [path, body] of Object.entries(files(home, worktree))) {
        mkdirSync(dirname(join(home, path)), { recursive: true })
        writeFileSync(join(home, path), JSON.stringify(body))
      }
      const author = {
        GIT_AUTHOR_NAME: 'x',
        GIT_AUTHOR_EMAIL: 'x@y',
        GIT_COMMITTER_NAME: 'x',
        GIT_COMMITTER_EMAIL: 'x@y',
      }
      const git = async (...args: string[]) =>
        (await collect('git', args, { cwd, env: { ...place.env, ...author } })).out.toString()
      await git('add', '-A')
      await git('commit', '-q', '-m', 'first')
      const serving = spawn(process.execPath, [program, 'serve', '--port', '0'], {
        cwd,
        env: place.env as NodeJS.ProcessEnv,
      })
      t.after(() => serving.kill('SIGKILL'))
      const { value: url } = await createInterface({ input: serving.stdout })[Symbol.asyncIterator]().next()
      const env: Env = { ...place.env, TERMAITE_HUB: url as string }
      const hub = new HubClient({
        url: url as string,
        key: readFileSync(join(home, '.termaite', 'hub.key'), 'utf8').trim(),
      })
      for (const thing of [1, 2, 3]) {
        const args = [program, 'task', 'add', `Do thing ${thing}.`]
        assert.equal((await collect(process.execPath, args, { cwd, env })).code, 0)
      }
      const args = [program, 'agent', `--start=${cli}`, '--leash', 'all', '--yes']
      const agent = spawn(process.execPath, args, {
        cwd,
        env: env as NodeJS.ProcessEnv,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let lines = ''
      agent.stderr.setEncoding('utf8').on('data', (chunk: string) => (lines += chunk))
      const exited = once(agent, 'exit')
      const waiting = new AbortController()
      t.after(() => waiting.abort())
      const done = async () => {
        for await (const _ of hub.changes(0, waiting.signal)) {
          const tasks = await hub.tasks()
          if (tasks.every(({ state }) => state === 'IN_REVIEW' || state === 'FAILED')) return tasks
        }
        return hub.tasks()
      }
      const tasks = await Promise.race([done(), exited.then(() => assert.fail(`it ended: ${lines}`))])
      agent.kill('SIGTERM')
      await exited

      const told = tasks.toSorted((a, b) => (a.prompt < b.prompt ? -1 : 1)).map(storyOf)
      assert.deepEqual(told, [1, 2, 3].map(storyTold), lines)
      assert.equal(killed.length > 0, true)
      const agents = (await hub.agents()).map(({ source, workspace, capabilities }) => ({
        source,
        workspace,
        capabilities,
      }))
      assert.deepEqual(agents, [{ source: 'CLI', workspace: cwd, capabilities: ['typescript'] }])
      assert.match(lines, /ended by a signal \(9\)|exited with|Killed/)
      assert.match(lines, /started again on its own session[^]*task \w{8} is done: Thing 2 is made\./)
      assert.match(
        lines,
        /Tokens: [\d,]+ \([\d,]+ reported\)\nResume with: termaite agent --start=\w+ --as=orc --resume\n$/,
      )
      const branches = (await git('branch', '--list', '--format=%(refname:short)', 'termaite/*')).trim().split('\n')
      assert.deepEqual(branches, tasks.map(({ id }) => `termaite/task-${id.slice(-8)}`).sort())
      assert.equal(await git('status', '--porcelain'), '')
    },
  )

const storyOf = ({ state, result, history }: Task) => ({
  state,
  message: result?.message,
  diff: result?.diff?.split('\n').filter((row) => /^[+-][^+-]/.test(row)),
  handed: history.filter((step) => step.state === 'PENDING_ACK').length,
})

const storyTold = (thing: number) => ({
  state: 'IN_REVIEW',
  message: `Thing ${thing} is made.`,
  diff: [`+made-${thing}`],
  handed: 1,
})
