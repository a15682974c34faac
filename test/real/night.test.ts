// A night in half an hour, on the installed package: eight supervised agents work on a pipeline of 60 tasks while programs crash, freeze
// and run out of quota, dialogs wait for a person, work is rejected and merged, the hub and the whole machine are killed, and the disk is
// full for a while. Waiting times are shortened by settings, never by a clock of our own. `FULL=1` runs it; NIGHT_SEEDS and
// NIGHT_MINUTES choose others than the usual ones.
import type { ChildProcess } from 'node:child_process'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import type { Script } from './model-server.ts'
import type { Style } from './night/own-worker.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { collect } from '../../src/base/process/collect.ts'
import { scrapedWords } from '../../src/core/talk/outcome.ts'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { slugOf } from '../../src/home/project.ts'
import { markOf } from '../../src/terminals/program/terminal-program.ts'
import { start } from '../cli/program.ts'
import { fullOnly } from '../full.ts'
import { modelServer, tokens } from './model-server.ts'
import { answerTo, fileOf, linesOf, wanted } from './night/own-worker.ts'
import { checkScript, drawn, plan, titleOf } from './night/plan.ts'
import { clis, shells } from './night/vendors.ts'
import { rigAll } from './rig.ts'
import { skipped } from './turns.ts'

const minutes = Number(process.env.NIGHT_MINUTES ?? 30)
const seeds = (process.env.NIGHT_SEEDS ?? '1,2,3').split(',').map(Number)
const nightMs = minutes * 60_000
const taskCount = 60
const silenceSeconds = 20

const author = { GIT_AUTHOR_NAME: 'x', GIT_AUTHOR_EMAIL: 'x@y', GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x@y' }

const styles: readonly Style[] = ['spinner', 'pattern', 'shell', 'wide']

/** The agents that are not asked to mark their answers. */
const unmarked = ['own-pattern', 'own-shell']

for (const seed of seeds)
  test(
    `a night of ${minutes} minutes with the seed ${seed}`,
    { skip: fullOnly || missing(), timeout: nightMs * 2 + 600_000 },
    async (t) => {
      const random = drawn(seed)
      const between = (low: number, high: number) => low + random() * (high - low)
      const began = Date.now()
      const story: string[] = []
      const tell = (words: string) => {
        story.push(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${words}`)
        console.log(story.at(-1))
      }

      // A disk of its own, so that a full one hurts this night alone.
      const disk = mkdtempSync(join(tmpdir(), 'termaite-night-'))
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=900m', 'tmpfs', disk])

      let [quotas, isHeld] = [0, false]
      const begun = new Set<number>()
      const taskMs = nightMs / 14
      const script: Script = async ({ wire, body }) => {
        const said = JSON.stringify(body.messages ?? body.contents ?? body.input)
        const want = wanted(said)
        if (!want) return { text: 'ready' }
        if (quotas > 0 && wire === 'anthropic') {
          quotas--
          const reset = Math.ceil(Date.now() / 1000) + 30
          return { error: 'plan', headers: { 'anthropic-ratelimit-unified-reset': `${reset}` } }
        }
        const { thing, polished } = want
        if (!begun.has(thing)) {
          begun.add(thing)
          await pause(taskMs * between(0.5, 1.5))
        }
        while (isHeld) await pause(200)
        const mark = `done-${thing}-${polished}`
        const adds = linesOf(thing, polished).map(
          (line) => `grep -qxs ${line} ${fileOf(thing)} || echo ${line} >> ${fileOf(thing)}`,
        )
        const command = [
          'mkdir -p things',
          ...adds,
          `grep -qx ${linesOf(thing, polished).at(-1)} ${fileOf(thing)} && echo ${mark.replace('done', 'd""one')}`,
        ].join('; ')
        return said.includes(mark) ? { text: answerTo(thing, polished) } : { call: shells[wire](command) }
      }
      const server = await modelServer(script)
      t.after(() => server.close())

      const oldTmp = process.env.TMPDIR
      process.env.TMPDIR = disk
      const place = await rigAll(server.url)
      if (oldTmp === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = oldTmp
      const { cwd } = place
      const home = place.env.HOME!
      const env = { ...place.env, ...author, SHELL: '/bin/sh', TMUX_TMPDIR: place.root } as NodeJS.ProcessEnv
      writeFileSync(join(home, '.profile'), `PATH='${place.env.PATH}'\n`)
      const names = [...Object.keys(clis), ...styles.map((style) => `own-${style}`)]
      for (const [cli, answered] of Object.entries(clis))
        for (const [path, text] of Object.entries(
          answered(join(home, '.termaite', 'worktrees', slugOf(cwd), `agent-${cli}`)),
        )) {
          mkdirSync(dirname(join(home, path)), { recursive: true })
          if (path.endsWith('.json')) rmSync(join(home, path), { force: true })
          appendFileSync(join(home, path), text)
        }
      const worker = join(import.meta.dirname, 'night', 'own-worker.ts')
      const own = (style: Style, more: object) => ({
        command: [process.execPath, worker, style, Math.round(taskMs)].join(' '),
        ...more,
      })
      const agents = {
        'own-spinner': own('spinner', { response_fence: true }),
        'own-pattern': own('pattern', { idle_pattern: '^> ?$' }),
        'own-shell': own('shell', {}),
        'own-wide': own('wide', { response_fence: true, idle_pattern: '^» ?$' }),
      }
      mkdirSync(join(home, '.termaite'), { recursive: true })
      writeFileSync(join(home, '.termaite', 'settings.json'), JSON.stringify({ silenceSeconds, agents }))
      const git = (...args: string[]) => execFileSync('git', args, { cwd, env }).toString()
      git('init', '-q', '-b', 'main')
      writeFileSync(join(cwd, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'node check.js' } }))
      writeFileSync(join(cwd, 'check.js'), checkScript)
      git('add', '-A')
      git('commit', '-q', '-m', 'first')

      // The hub, and a supervisor for each agent.
      let port = '0'
      let hubProcess: ChildProcess
      const serve = async () => {
        hubProcess = spawn(start[0], [...start.slice(1), 'serve', '--port', port], {
          cwd,
          env,
          stdio: ['ignore', 'pipe', 'ignore'],
        })
        const { value } = await createInterface({ input: hubProcess.stdout! })[Symbol.asyncIterator]().next()
        port = new URL(value as string).port
        return value as string
      }
      const url = await serve()
      env.TERMAITE_HUB = url
      const hub = new HubClient({ url, key: readFileSync(join(home, '.termaite', 'hub.key'), 'utf8').trim() })
      const supervisors = new Map<string, ChildProcess>()
      const logs = new Map<string, string>(names.map((name) => [name, '']))
      const inTmux = (name: string) => names.indexOf(name) % 2 === 0
      const supervise = (name: string, ...more: string[]) => {
        const leash = name === 'claude' ? 'ask' : 'all'
        const host = inTmux(name) ? ['--tmux'] : []
        const args = ['agent', `--start=${name}`, '--leash', leash, '--yes', ...host, ...more]
        const child = spawn(start[0], [...start.slice(1), ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
        child.stderr.setEncoding('utf8').on('data', (chunk: string) => logs.set(name, logs.get(name)! + chunk))
        child.once(
          'exit',
          (code, signal) => signal === 'SIGKILL' || tell(`the supervisor of ${name} ended with ${code ?? signal}`),
        )
        supervisors.set(name, child)
      }
      t.after(async () => {
        for (const child of supervisors.values()) child.kill('SIGKILL')
        for (const socket of globSync('tmux-*/*', { cwd: place.root }))
          spawnSync('tmux', ['-S', join(place.root, socket), 'kill-server'])
        for (const name of names) for (const pid of processesOf(name)) signal(pid, 'SIGKILL')
        hubProcess.kill('SIGKILL')
        // Last, because the sockets of tmux and the sessions are on this disk.
        spawnSync('umount', ['-l', disk])
        rmSync(disk, { recursive: true, force: true })
      })

      const sessions = () =>
        globSync('.termaite/sessions/*/session.json', { cwd }).flatMap((file) => {
          try {
            return [JSON.parse(readFileSync(join(cwd, file), 'utf8')) as { agent: string; terminal: string }]
          } catch {
            return []
          }
        })
      const processesOf = (name: string) =>
        sessions()
          .filter(({ agent }) => agent === name)
          .flatMap(({ terminal }) => marked(markOf(terminal)))

      for (const name of names) supervise(name)
      const run = async (...args: string[]) => {
        const ran = await collect(start[0], [...start.slice(1), ...args], { cwd, env })
        return { code: ran.code, out: ran.out.toString(), err: ran.err }
      }
      const planFile = join(place.root, 'night.yaml')
      writeFileSync(planFile, plan(taskCount))
      const added = await run('task', 'add', '--file', planFile)
      assert.equal(added.code, 0, added.err)

      // The faults, each at its time. A fault may make a program ask its model again.
      const struck: { name?: string; at: number }[] = []
      const frozen: { name: string; at: number; noticed?: number; words: string }[] = []
      const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
      const crash = async () => {
        const name = pick(names)
        const pids = processesOf(name)
        tell(`crash of ${name}: ${pids.length} processes`)
        struck.push({ name, at: Date.now() })
        for (const pid of pids) signal(pid, 'SIGKILL')
      }
      const freeze = async () => {
        const busy = (await hub.tasks().catch(() => [])).flatMap(({ state, agent }) =>
          state === 'IN_PROGRESS' || state === 'ASSIGNED'
            ? names.filter((name) => agent?.startsWith(`${name}-`) && !inTmux(name))
            : [],
        )
        const name = pick(busy.length > 0 ? busy : names.filter((other) => !inTmux(other)))
        // tmux wakes a stopped program itself: only those in a terminal of termaite's own can freeze.
        const pids = processesOf(name)
        tell(`freeze of ${name}: ${pids.length} processes`)
        struck.push({ name, at: Date.now() })
        if (busy.length > 0) frozen.push({ name, at: Date.now(), words: logs.get(name)! })
        for (const pid of pids) signal(pid, 'SIGSTOP')
      }
      const killHub = async () => {
        tell('the hub is killed')
        const over = once(hubProcess, 'exit')
        hubProcess.kill('SIGKILL')
        await over
        await pause(2_000)
        await serve()
      }
      const killMachine = async () => {
        tell('the machine is killed')
        struck.push({ at: Date.now() })
        for (const child of supervisors.values()) child.kill('SIGKILL')
        for (const socket of globSync('tmux-*/*', { cwd: place.root }))
          spawnSync('tmux', ['-S', join(place.root, socket), 'kill-server'])
        for (const name of names) for (const pid of processesOf(name)) signal(pid, 'SIGKILL')
        for (const freezing of frozen) freezing.noticed ??= 0
        await killHub()
        for (const name of names) supervise(name, '--resume')
      }
      const fillDisk = async () => {
        tell('the disk is full')
        struck.push({ at: Date.now() })
        const ballast = fill(disk)
        await pause(15_000)
        for (const file of ballast) rmSync(file, { force: true })
        tell('room is back on the disk')
        struck.push({ at: Date.now() })
      }
      const quota = async () => {
        tell('the next request of claude is refused for its quota')
        quotas++
      }
      const faults = [
        ...Array.from({ length: 6 }, () => crash),
        ...Array.from({ length: 4 }, () => freeze),
        ...Array.from({ length: 3 }, () => killHub),
        ...[quota, quota, fillDisk, killMachine],
      ]
        .map((act) => ({ at: nightMs * between(0.06, 0.75), act }))
        .toSorted((a, b) => a.at - b.at)

      // The person: answers dialogs, rejects some work once, and merges the rest.
      const rejects = new Set(Array.from({ length: 6 }, () => 1 + Math.floor(random() * taskCount)))
      const rejected = new Set<number>()
      const thingOf = (task: Task) => Number(/Do thing (\d+)\./.exec(task.prompt)![1])
      const attend = async (): Promise<Task[]> => {
        for (const { id, asks } of await hub.agents()) {
          if (!asks) continue
          const option =
            asks.options.find(({ label }) => /^(?:Yes|Continue|Trust|Restart|Go on)/i.test(label)) ?? asks.options[0]
          const answered = await run('task', 'answer', id, option?.label ?? 'yes')
          tell(
            `${id} asks: ${asks.text.split('\n')[0]!.slice(0, 80)} → ${option?.label} (${answered.code}${answered.err && `, ${answered.err.trim()}`})`,
          )
        }
        const tasks = (await hub.tasks()).filter(({ pipeline }) => pipeline)
        for (const task of tasks) {
          const thing = thingOf(task)
          if (task.state === 'BLOCKED') {
            const answered = await run('task', 'answer', task.id, '1')
            tell(
              `thing ${thing} is blocked: ${task.question.split('\n')[0]!.slice(0, 90)} (${answered.code}${answered.err && `, ${answered.err.trim()}`})`,
            )
          }
          if (task.state !== 'IN_REVIEW') continue
          if (rejects.has(thing) && !rejected.has(thing)) {
            const ran = await run('task', 'reject', task.id, `Add the line polished-${thing} to ${fileOf(thing)}.`)
            if (ran.code === 0) rejected.add(thing)
            tell(`thing ${thing} is rejected (${ran.code}${ran.err && `, ${ran.err.trim()}`})`)
            continue
          }
          const ran = await run('task', 'approve', task.id, '--merge', '--yes')
          if (ran.code !== 0) tell(`thing ${thing} was not merged: ${ran.err.trim()}`)
        }
        return tasks
      }

      const notice = () => {
        for (const freezing of frozen) {
          if (freezing.noticed !== undefined || logs.get(freezing.name) === freezing.words) continue
          freezing.noticed = Date.now()
          tell(
            `the freeze of ${freezing.name} was noticed after ${((freezing.noticed - freezing.at) / 1000).toFixed(0)} s: ${logs.get(freezing.name)!.slice(freezing.words.length).trim().split('\n')[0]}`,
          )
        }
      }
      let isOver = false
      const watching = (async () => {
        while (!isOver) {
          notice()
          await pause(500)
        }
      })()
      const faulting = (async () => {
        for (const { at, act } of faults) {
          await pause(Math.max(0, began + at - Date.now()))
          if (!isOver) await act()
        }
      })()
      let tasks: Task[] = []
      const last = began + nightMs * 2
      while (Date.now() < last) {
        tasks = await attend().catch((error: Error) => (tell(`the person sees: ${error.message.slice(0, 100)}`), tasks))
        if (tasks.length === taskCount && tasks.every(({ state }) => isFinished(state))) break
        await pause(1_000)
      }
      isOver = true
      await Promise.all([watching, faulting])

      // The morning.
      tell(
        `it is morning: ${JSON.stringify(Object.entries(Object.groupBy(tasks, ({ state }) => state)).map(([state, all]) => [state, all.length]))}`,
      )
      const report = await run('report', '--since', '12h')
      writeFileSync(
        join(tmpdir(), `termaite-night-${seed}.txt`),
        [...story, report.out, ...names.map((name) => `== ${name}\n${logs.get(name)}`)].join('\n'),
      )
      const things = Array.from({ length: taskCount }, (_, at) => at + 1)
      const kept = things.map((thing) => {
        try {
          return readFileSync(join(cwd, fileOf(thing)), 'utf8')
        } catch {
          return 'missing'
        }
      })
      assert.deepEqual(
        kept,
        things.map((thing) => `${linesOf(thing, rejected.has(thing)).join('\n')}\n`),
      )
      const byThing = tasks.toSorted((a, b) => thingOf(a) - thingOf(b))
      assert.deepEqual(
        byThing.map(({ state, result }) => [state, result?.message]),
        byThing.map((task) => ['APPROVED', answerOf(task, rejected.has(thingOf(task)))]),
      )
      const subjects = git('log', '--no-merges', '--format=%s', 'main').trim().split('\n').slice(0, -1)
      const titles = new Set(byThing.map(({ prompt }) => titleOf(prompt)))
      assert.deepEqual(
        subjects.filter((subject) => !titles.has(subject)),
        [],
      )
      assert.equal(execFileSync('npm', ['test', '--silent'], { cwd, env }).toString(), `${taskCount} things\n`)
      // One try of a vendor's CLI that no fault struck asks its model twice: for the command, and for the answer. What a CLI asks for
      // itself besides, such as a suggestion for the next prompt, is no part of the turn in its own session file.
      const counted = byThing.filter(({ tries = [] }) => {
        const [only, ...others] = tries
        const cli = only && Object.keys(clis).find((name) => only.agent.startsWith(`${name}-`))
        const isStruck = struck.some(
          ({ name = cli, at }) => name === cli && at > only!.began && at < (only!.ended ?? Infinity),
        )
        return cli !== undefined && others.length === 0 && !isStruck
      })
      tell(`tokens are compared for ${counted.length} tasks`)
      assert.ok(counted.length > 0)
      assert.deepEqual(
        counted.map((task) => [thingOf(task), task.tries![0]!.spent?.tokens]),
        counted.map((task) => [thingOf(task), 2 * (tokens.input + tokens.output)]),
      )
      assert.deepEqual(
        frozen.filter(({ noticed }) => noticed === undefined).map(({ name }) => name),
        [],
      )
      tell(
        `freezes were noticed after ${frozen
          .filter(({ noticed }) => noticed !== 0)
          .map(({ at, noticed }) => Math.round((noticed! - at) / 1000))
          .join(', ')} s`,
      )
    },
  )

/** The whole answer of a finished task: one that an agent did not mark as its answer is the text of its screen, and says so. */
function answerOf({ tries = [], prompt }: Task, polished: boolean): string {
  const answer = answerTo(Number(/Do thing (\d+)\./.exec(prompt)![1]), polished)
  const name = unmarked.find((name) => tries.at(-1)!.agent.startsWith(`${name}-`))
  return name ? `[${scrapedWords(name)}]\n${answer}` : answer
}

const isFinished = (state: Task['state']) => ['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'].includes(state)

function missing(): string | false {
  for (const cli of Object.keys(clis)) if (skipped(cli)) return skipped(cli)
  if (process.platform !== 'linux') return 'only Linux tells whose process is whose'
  return process.getuid!() === 0 ? false : 'nothing can be mounted here'
}

/** The processes whose environment has this mark. */
function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
      } catch {
        return false
      }
    })
    .map(Number)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {}
}

/** Takes all the room there is, and tells by which files. */
function fill(folder: string): string[] {
  const files: string[] = []
  for (let size = 64_000_000; size >= 4096;) {
    const file = join(folder, `ballast-${files.length}`)
    try {
      writeFileSync(file, Buffer.alloc(size))
      files.push(file)
    } catch {
      rmSync(file, { force: true })
      size = Math.floor(size / 2)
    }
  }
  return files
}
