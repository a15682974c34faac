import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { ToolCall } from '../../src/core/work/tool.ts'
import type { NativeParts, NativeSeat } from '../../src/native/native-parts.ts'
import type { ProjectDoc } from '../../src/home/project.ts'
import type { ShellStart } from '../../src/native/tools/shared/tool-parts.ts'
import { AddedFolders } from '../../src/native/added-folders.ts'
import { agentShell } from '../../src/native/native-sandbox.ts'
import { newNativeState } from '../../src/native/native-parts.ts'
import { slugOf } from '../../src/home/project.ts'
import { policyFor } from '../../src/native/native-permissions.ts'
import { scratchRooms } from '../../src/native/native-scratch.ts'
import { toolboxOf } from '../../src/native/toolbox.ts'
import { nobody } from '../../src/core/talk/question.ts'
import { ownProgram } from '../../src/base/process/program-path.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openBorder } from '../../src/safety/border.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { permissionsOf } from '../../src/settings/permission-settings.ts'
import { ordinaryCommands, type Family } from '../safety/corpus/ordinary-commands.ts'
import {
  absent,
  layAgain,
  layCaches,
  layHome,
  layProject,
  personEnvironment,
} from '../safety/corpus/ordinary-projects.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { goldenOf } from '../golden.ts'
import { sized } from '../full.ts'

const golden = goldenOf(import.meta.filename)

// Beside the temporary folder, which is private behind a wall.
const base = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-ordinary-')))
after(() => {
  rmSync(base, { recursive: true, force: true })
  // Agents write to the temporary folder by its name, and outside the wall that is the machine's own.
  for (const name of readdirSync('/tmp'))
    if (name.startsWith('ordinary')) rmSync(join('/tmp', name), { recursive: true, force: true })
})
const home = join(base, 'home')
const env = personEnvironment(home)

const families = Object.keys(ordinaryCommands) as Family[]
const commandsOf = (family: Family) => Object.values(ordinaryCommands[family]).flat()
/** Every command with `FULL=1`, else some of each family. */
const some = <One>(list: readonly One[]) => list.filter((_, at) => at % sized(12, 1) === 0)

/** A turn of our own agent in a project, with nobody who answers. */
function turnIn(root: string, leash: Leash) {
  const store = memoryStore()
  const settings = {
    ...{ agents: [], hooks: {}, permissions: permissionsOf({}, {}) },
    sandbox: { enabled: true, network: 'rule' },
  }
  const seat = { agent: { name: 'own' }, settings, leash, window: 1 } as unknown as NativeSeat
  const parts: NativeParts = {
    ...{ home: join(home, '.termaite'), root, cwd: root, env, clock: realClock, session: 's', store, audited: true },
    border: openBorder({ env: {} }),
    blobs: store.blobs('output'),
    project: store.doc<ProjectDoc>('project', { path: root, lastUsed: 0, sessions: {} }),
    folders: new AddedFolders(),
    state: newNativeState({ seats: new Map([['own', seat]]) }),
  }
  const { tools } = toolboxOf('own', parts).box
  const signal = new AbortController().signal
  return {
    /** How the command is decided, the classes that it was judged to have, and whether a yes would let it run outside. */
    async decided(command: string) {
      const bash = tools.find(({ name }) => name === 'bash')!
      const decide = await policyFor(seat, tools, [], parts)
      const input = { command }
      const { verdict, why } = await decide(bash, input, { cwd: root, leash, signal } as unknown as Turn)
      const { parts: judged = [], place } = parts.state.tools.judged.get(input) ?? {}
      return { verdict, why, classes: judged.map((part) => part.class), isOutside: place && 'outside' in place }
    },
    start: (command: string): Promise<ShellStart> =>
      agentShell('own', parts, () => tools).shell(command, { cwd: root, leash, ask: nobody, signal } as ToolCall),
    end: () => scratchRooms('own', parts).close(),
  }
}

const heldFolders = 'ls counts the folders modules and worktrees, which the wall makes in .git to hold them'

/**
 * The commands that are known to differ, each with the reason. One that no longer differs fails the test, so that this list only
 * becomes shorter.
 */
const differing: Readonly<Record<string, string>> = {
  'ls -la': heldFolders,
  'ls -la && cat package.json': heldFolders,
  'git branch feature/x && git branch -d feature/x':
    'git removes the settings of a branch with it, and warns that the settings of the repository cannot be written',
  'python3 -m pip config list | wc -l': 'pip also lists the variable that leads it to the private cache of the project',
}

type Outcome = { code: number | null; out: string; err: string }

async function run({ argv: [program, ...args], env: given = env }: ShellStart, cwd: string): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: given, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await once(child, 'exit')) as [number | null]
  // A server that the command left behind holds the pipes open.
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // No process of it is left.
  }
  const [out, err] = await texts
  return { code, out: masked(out), err: masked(err) }
}

/**
 * A text without what differs from run to run: times, durations, the names of commits, numbers of processes; and without what is
 * known to be another behind the wall: the name of root, and the folder that the project is in.
 */
function masked(text: string): string {
  return text
    .replace(/^([-dl][-rwxst]{9} +\d+) \S+ +\S+/gm, '$1 <user> <group>')
    .replace(/^total \d+$|^d.* \.\.$/gm, '<parent>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(
      /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)? ?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ +[\d:]+(?: \d{4})?(?: [+-]\d{4})?/g,
      '<time>',
    )
    .replace(/^(real|user|sys)\s+[\dms.]+$/gm, '$1 <duration>')
    .replace(/duration_ms\D{0,4}[\d.]+/g, '<duration>')
    .replace(/\(cached\)|[\d.]+ ?(?:ms|µs|ns|secs?|seconds?|s|m)\b/g, '<duration>')
    .replace(/\S+\/_logs\/\S+/g, '<log>')
    .replace(/\b[0-9a-f]{7,40}\b/g, '<hash>')
    .replace(/\(node:\d+\)|\bpid \d+/g, '<process>')
}

test('the list is large enough, and no command is in it twice', () => {
  const all = families.flatMap(commandsOf)
  assert.ok(all.length >= 500, `${all.length} commands`)
  assert.equal(new Set(all).size, all.length)
  for (const family of families) assert.ok(family === 'server' || commandsOf(family).length >= 20, family)
})

/**
 * How often a command may differ before it counts: a program notices that the reader of its pipe has ended, or does not, as the time
 * has it.
 */
const sameTries = 3

/** What a command does outside and behind the wall, each time in a fresh copy of the project. */
async function outcomesOf(family: Family, command: string) {
  const root = rootOf(family)
  layAgain(templateOf(family), root)
  const outside = await run({ argv: [ownProgram('bash', env, root), '-c', command] }, root)
  layAgain(templateOf(family), root)
  const turn = turnIn(root, 'edit')
  const started = await turn.start(command)
  const inside = await run(started, root)
  const settled = await started.settle?.()
  await turn.end()
  const same = inside.code === outside.code && inside.out === outside.out && inside.err === outside.err
  return { same, inside, outside, settled }
}

for (const family of families)
  test(
    `${family}: commands behave behind the wall of edit as outside`,
    { skip: noSandbox || absent[family] },
    async (t) => {
      if (!laid.has(family)) lay(family)
      const root = rootOf(family)
      const wrong: unknown[] = []
      const count = { same: 0, differing: 0, outside: 0 }
      for (const command of some(commandsOf(family))) {
        layAgain(templateOf(family), root)
        // Behind the wall there is nothing to compare with a command that runs outside after a yes.
        if ((await turnIn(root, 'edit').decided(command)).isOutside) {
          count.outside++
          continue
        }
        let outcomes = await outcomesOf(family, command)
        const isKnown = differing[command] !== undefined
        for (let more = sameTries - 1; more > 0 && !isKnown && !outcomes.same; more--)
          outcomes = await outcomesOf(family, command)
        count[outcomes.same ? 'same' : 'differing']++
        if (outcomes.same === isKnown) wrong.push({ command, ...outcomes })
      }
      t.diagnostic(`${family}: ${JSON.stringify(count)}`)
      assert.deepEqual(wrong, [])
    },
  )

test('how many ordinary commands are asked about at each leash', { skip: noSandbox }, async (t) => {
  const counts: Record<string, unknown> = {}
  const asked: Record<string, string[]> = {}
  let all = 0
  for (const leash of ['read', 'ask', 'edit'] as const) {
    const count = { free: 0, asked: 0, askedAsInstallOrDestructive: 0, refused: 0 }
    for (const family of families) {
      if (!laid.has(family)) lay(family)
      layAgain(templateOf(family), rootOf(family))
      const turn = turnIn(rootOf(family), leash)
      for (const command of commandsOf(family)) {
        const { verdict, why, classes } = await turn.decided(command)
        const known = classes.includes('installing') || classes.includes('destructive')
        if (verdict === 'yes') count.free++
        else if (verdict === 'no') count.refused++
        else if (known) count.askedAsInstallOrDestructive++
        else count.asked++
        if (leash === 'edit' && verdict !== 'yes')
          (asked[known ? 'install or destructive' : 'other'] ??= []).push(`${command}: ${why}`)
      }
    }
    counts[leash] = count
    all = Object.values(count).reduce((sum, number) => sum + number)
  }
  const { asked: others } = counts.edit as { asked: number }
  assert.ok(others < all * 0.03, `${others} of ${all}`)
  golden(t, { all, counts, asked }, { [base]: '<base>' })
})

const laid = new Set<Family>()
function lay(family: Family): void {
  if (laid.size === 0) layHome(home)
  laid.add(family)
  mkdirSync(join(base, 'projects'), { recursive: true })
  mkdirSync(templateOf(family), { recursive: true })
  layProject(family, templateOf(family), env)
  layCaches(family, join(home, '.termaite', 'projects', slugOf(rootOf(family)), 'caches'), env)
}

function templateOf(family: Family): string {
  return join(base, 'laid', family)
}

function rootOf(family: Family): string {
  return join(base, 'projects', family)
}
