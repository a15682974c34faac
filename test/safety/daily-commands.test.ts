import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { ShellClass } from '../../src/safety/shell/shell-judgement.ts'
import type { WallFacts } from '../../src/safety/rules/command-place.ts'
import { parseRules } from '../../src/safety/rules/permission-rule.ts'
import { policy } from '../../src/safety/rules/permission-policy.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { dailyCommands } from './corpus/daily-commands.ts'
import { layProject } from './shell/project.ts'

const project = layProject()

const all = Object.values(dailyCommands).flat()

const bash = nativeTools({
  root: project.root,
  env: {},
  clock: realClock,
  blobs: memoryStore().blobs('output'),
  consult: async () => '',
  sandboxed: async () => '',
}).tools.find(({ name }) => name === 'bash')!

test('ordinary commands are judged by their class', async () => {
  const wrong: unknown[] = []
  for (const [kind, commands] of Object.entries(dailyCommands) as [ShellClass, readonly string[]][])
    for (const command of commands) {
      const { worst } = await judge(command, project)
      if (worst.class !== kind) wrong.push({ command, kind, found: worst.class, why: worst.why })
    }
  assert.deepEqual(wrong, [])
  assert.ok(all.length >= 380, `${all.length} commands`)
})

/** The commands that do not run by themselves. */
async function held(leash: Leash, wall?: WallFacts, commands: readonly string[] = all): Promise<string[]> {
  const { rules } = parseRules({})
  const decide = policy({
    root: project.root,
    home: project.home,
    mode: () => 'default',
    rules: () => rules,
    tools: [bash],
    wall: async () => wall,
  })
  const turn = { cwd: project.root, leash, signal: new AbortController().signal } as unknown as Turn
  const found: string[] = []
  for (const command of commands) if ((await decide(bash, { command }, turn)).verdict !== 'yes') found.push(command)
  return found
}

/** Commands that leave the machine, need the person's keys or change the system are meant to be asked for. */
const leaving: ReadonlySet<ShellClass> = new Set([
  'network',
  'installing',
  'system',
  'outside',
  'secrets',
  'destructive',
])

test('at edit with a wall, fewer than one in twenty commands of the project’s own work is asked about', async () => {
  const wall: WallFacts = { network: 'asked', temporary: '/tmp' }
  const asked = await held('edit', wall)
  const inside = (Object.entries(dailyCommands) as [ShellClass, readonly string[]][]).flatMap(([kind, commands]) =>
    leaving.has(kind) ? [] : commands,
  )
  const own = asked.filter((command) => inside.includes(command))
  assert.ok(own.length < inside.length / 20, `${own.length} of ${inside.length}: ${own.join(' · ')}`)
})

test('the number of ordinary commands that do not run by themselves, at each leash', async () => {
  const wall: WallFacts = { network: 'asked', temporary: '/tmp' }
  const count = async (leash: Leash, facts?: WallFacts) => (await held(leash, facts)).length
  assert.deepEqual(
    {
      all: all.length,
      withoutSandbox: { read: await count('read'), ask: await count('ask'), edit: await count('edit') },
      behindTheWall: { read: await count('read', wall), edit: await count('edit', wall) },
    },
    {
      all: 390,
      // Where there is no sandbox, only the plain readers run by themselves.
      withoutSandbox: { read: 347, ask: 347, edit: 347 },
      // At edit these are the network, installations, docker, keys, and what cannot be undone.
      behindTheWall: { read: 104, edit: 53 },
    },
  )
})

test('at edit with a wall, fewer than one in twenty scripts of public packages is asked about', async () => {
  const file = join(import.meta.dirname, 'corpus', 'package-scripts.json')
  const scripts = JSON.parse(readFileSync(file, 'utf8')) as string[]
  const asked = await held('edit', { network: 'asked', temporary: '/tmp' }, scripts)
  assert.deepEqual(
    [scripts.length, asked.length, asked.length < scripts.length / 20],
    [363, 14, true],
    asked.join('\n'),
  )
})
