import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { WallUser } from './behind-wall.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { Mode } from '../../src/safety/rules/permission-modes.ts'
import type { CommandPlace, WallFacts } from '../../src/safety/rules/command-place.ts'
import { isWithin } from '../../src/base/files/real-path.ts'
import { modes } from '../../src/safety/rules/permission-modes.ts'
import { parseRules } from '../../src/safety/rules/permission-rule.ts'
import { placeOf } from '../../src/safety/rules/command-place.ts'
import { policy } from '../../src/safety/rules/permission-policy.ts'
import { secretFilesIn } from '../../src/safety/secret-files.ts'
import { wallOf } from '../../src/safety/wall/wall.ts'
import { nativeTools } from '../../src/native/tools/all-tools.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { realClock } from '../../src/base/time/clock.ts'
import type { HostileProject } from './corpus/hostile-project.ts'
import { canary, contained, layHostileProject, shot, Tripwire } from './corpus/hostile-project.ts'
import { hostileCommands } from './corpus/hostile-commands.ts'
import { leavingAttacks, readerAttacks } from './corpus/reader-attacks.ts'
import { wallAttacks } from './corpus/wall-attacks.ts'
import { noSandbox } from './no-sandbox.ts'
import { give, groundsOf, runBehindWall, wallUsers } from './behind-wall.ts'
import { quotedWord } from '../../src/base/text/shell-word.ts'
import { sized } from '../full.ts'

const wire = new Tripwire(layHostileProject())
const { root, home, away, env } = wire.project
after(() => wire.gone())

const corpus = Object.entries(hostileCommands).flatMap(([effect, list]) =>
  list.map((command) => ({
    effect: effect as keyof typeof hostileCommands,
    command: command.replaceAll('{away}', away),
  })),
)
const attacks = [...readerAttacks, ...leavingAttacks, ...Object.values(wallAttacks).flat()].map((command) =>
  command.replaceAll('{away}', away).replaceAll('{home}', home),
)
const everything = [...corpus.map(({ command }) => command), ...attacks]

/** Every command with `FULL=1`, else some of each kind. */
const some = <One>(list: readonly One[], usual: number) => list.filter((_, i) => i % sized(usual, 1) === 0)

const bash = nativeTools({
  root,
  env: {},
  clock: realClock,
  blobs: memoryStore().blobs('output'),
  consult: async () => '',
  sandboxed: async () => '',
}).tools.find(({ name }) => name === 'bash')!

async function verdictOf(command: string, leash: Leash, mode: Mode, wall?: WallFacts): Promise<'yes' | 'ask' | 'no'> {
  const { rules } = parseRules({})
  const decide = policy({ root, home, mode: () => mode, rules: () => rules, tools: [bash], wall: async () => wall })
  const turn = { cwd: root, leash, signal: new AbortController().signal } as unknown as Turn
  return (await decide(bash, { command }, turn)).verdict
}

test('the corpus is large', () => {
  assert.ok(corpus.length > 700, `${corpus.length} commands`)
  assert.equal(new Set(corpus.map(({ command }) => command)).size, corpus.length)
})

test('at ask, with a sandbox, a hostile command that is not asked about runs behind the wall of a reader', async () => {
  const facts: WallFacts = { network: 'asked' }
  const { rules } = parseRules({})
  const wrong: unknown[] = []
  let asked = 0
  for (const { command } of corpus) {
    let place: CommandPlace | undefined
    const judged = (_: unknown, __: unknown, where: CommandPlace | undefined) => (place = where)
    const decide = policy({
      root,
      home,
      mode: () => 'default',
      rules: () => rules,
      tools: [bash],
      wall: async () => facts,
      judged,
    })
    const turn = { cwd: root, leash: 'ask', signal: new AbortController().signal } as unknown as Turn
    const { verdict } = await decide(bash, { command }, turn)
    if (verdict === 'ask') asked++
    else if (!place || !('inside' in place) || place.inside.project !== 'read' || place.keys !== 'hidden')
      wrong.push({ command, verdict, place })
  }
  assert.deepEqual(wrong, [])
  assert.ok(asked > corpus.length / 2, `${asked} of ${corpus.length} are asked about`)
})

test('at read, without a sandbox, no hostile command runs in any mode', async () => {
  const wrong: unknown[] = []
  for (const mode of modes)
    for (const command of everything) {
      const verdict = await verdictOf(command, 'read', mode)
      if (verdict !== 'no') wrong.push({ command, mode, verdict })
    }
  assert.deepEqual(wrong, [])
})

test('each hostile command really has its effect', { skip: noSandbox }, async () => {
  const wrong: unknown[] = []
  for (const { effect, command } of some(corpus, 60)) {
    const { runs, writes, leaks, out } = await wire.run(contained(command, wire.project))
    if (!{ runs, writes: writes.length > 0, leaks }[effect]) wrong.push({ effect, command, out })
  }
  assert.deepEqual(wrong, [])
})

test('at ask and edit, without a sandbox, a person is asked about every hostile command in every mode', async () => {
  const wrong: unknown[] = []
  for (const leash of ['ask', 'edit'] as const)
    for (const mode of modes)
      for (const command of everything) {
        const verdict = await verdictOf(command, leash, mode)
        if (verdict !== (mode === 'plan' || mode === 'dontAsk' ? 'no' : 'ask'))
          wrong.push({ command, leash, mode, verdict })
      }
  assert.deepEqual(wrong, [])
})

for (const leash of ['read', 'edit'] as const)
  test(
    `at ${leash}, behind the wall, commands that run unasked change nothing ${leash === 'read' ? 'at all' : 'outside the project'}`,
    { skip: noSandbox },
    async () => {
      const facts: WallFacts = { network: 'asked' }
      const wall = wallOf({ platform: process.platform, env: process.env })
      const wrong: unknown[] = []
      for (const { command } of some(corpus, 40)) {
        if ((await verdictOf(command, leash, 'default', facts)) !== 'yes') continue
        const place = placeOf(leash, facts, 'leash')
        assert.ok('inside' in place, command)
        const walled = await wall.wrap(['bash', '-c', command], { root, home, ...place.inside })
        if ('none' in walled) assert.fail(`${command}: ${walled.none}`)
        const keyless = { ...env, MADE_UP_API_KEY: undefined }
        const { writes } = await wire.run(walled.argv, keyless)
        await walled.settle()
        const bad = leash === 'read' ? writes : writes.filter((path) => !isWithin(root, path))
        if (bad.length > 0) wrong.push({ command, bad })
      }
      assert.deepEqual(wrong, [])
    },
  )

test('at edit nothing leaves the sandbox unasked, however a command is put together, and no rule for a beginning lets it', async () => {
  const facts: WallFacts = { network: 'asked', temporary: '/tmp' }
  const allow = ['bash', 'bash(docker:*)', 'bash(git:*)', 'bash(./evil:*)', 'bash(ssh *)', 'bash(npm:*)']
  const wrong: unknown[] = []
  const commands = leavingAttacks.map((command) => command.replaceAll('{away}', away))
  assert.ok(commands.length + readerAttacks.length >= 200, `${commands.length + readerAttacks.length} commands`)
  for (const lists of [{}, { allow, spared: allow, outside: ['bash(./evil:*)', 'bash(docker:*)'] }])
    for (const command of commands) {
      let place: CommandPlace | undefined
      const { rules } = parseRules(lists)
      const judged = (_: unknown, __: unknown, where: CommandPlace | undefined) => (place = where)
      const wall = async () => facts
      const decide = policy({ root, home, mode: () => 'bypass', rules: () => rules, tools: [bash], wall, judged })
      const turn = { cwd: root, leash: 'edit', signal: new AbortController().signal } as unknown as Turn
      const { verdict } = await decide(bash, { command }, turn)
      const isInside = place !== undefined && 'inside' in place && !place.inside.network
      if (verdict === 'yes' && !isInside) wrong.push({ command, verdict, place })
    }
  assert.deepEqual(wrong, [])
})

for (const user of wallUsers)
  test(
    `the new attacks that run unasked behind the wall change nothing outside of it, as ${user.name}`,
    { skip: user.skip },
    async (t) => {
      const facts: WallFacts = { network: 'asked', temporary: '/tmp' }
      const grounds = groundsOf(t, user)
      const beside = join(grounds.base, 'away')
      mkdirSync(beside)
      writeFileSync(
        join(grounds.root, 'evil'),
        `#!/bin/sh\necho ran > ${beside}/TRIPPED; echo ran > ${grounds.home}/TRIPPED; echo ran > ./TRIPPED\n`,
        { mode: 0o755 },
      )
      if (user.id !== undefined) give(grounds.base, user.id)
      const seen: Record<string, string[]> = {}
      for (const leash of ['read', 'edit'] as const) {
        const place = placeOf(leash, facts, 'leash')
        assert.ok('inside' in place)
        const scripts: string[] = []
        for (const one of some([...readerAttacks, ...leavingAttacks], 6)) {
          const command = one.replaceAll('{away}', beside)
          if ((await verdictOf(command, leash, 'default', facts)) === 'yes')
            scripts.push(`timeout -s KILL 3 bash -c ${quotedWord(command)} < /dev/null`)
        }
        assert.ok(scripts.length > 5, `${scripts.length} run at ${leash}`)
        await runBehindWall(user, { root: grounds.root, home: grounds.home, ...place.inside }, [...scripts, './evil'])
        const tripped = (folder: string) =>
          existsSync(join(folder, 'TRIPPED')) ? [relative(grounds.base, folder)] : []
        seen[leash] = [beside, grounds.home, grounds.root].flatMap(tripped)
      }
      assert.deepEqual(seen, { read: [], edit: ['project'] })
    },
  )

const isFolder = (path: string) => lstatSync(path).isDirectory()

for (const user of wallUsers)
  for (const leash of ['read', 'edit'] as const)
    test(
      `at ${leash}, attacks on the wall that run unasked act, leave, plant and read keys nowhere, as ${user.name}`,
      { skip: user.skip },
      async (t) => {
        const laid = layHostileProject()
        t.after(() => laid.gone())
        for (const path of ['.aws', '.netrc', '.profile']) writeFileSync(join(laid.home, path), `KEY=${canary}\n`)
        writeFileSync(join(laid.root, 'at.sh'), 'echo x > made\n')
        const host = await hostOf(t, laid, user)
        const facts: WallFacts = { network: 'asked', temporary: '/tmp' }
        const place = placeOf(leash, facts, 'leash')
        assert.ok('inside' in place)
        const ran: string[] = []
        for (const attack of some(Object.values(wallAttacks).flat(), 3)) {
          const command = host.named(attack)
          if ((await verdictOf(command, leash, 'default', facts)) === 'yes') ran.push(command)
        }
        assert.ok(ran.length > 10, `${ran.length} run at ${leash}`)
        const scripts = ran.map((command) => `timeout -s KILL 5 bash -c ${quotedWord(command)} < /dev/null`)
        const before = shot(laid.base)
        const limits = { root: laid.root, home: laid.home, ...place.inside, hidden: await secretFilesIn(laid.root) }
        const results = await runBehindWall(user, limits, scripts)
        const after = shot(laid.base)
        const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
          (path) => before.get(path) !== after.get(path),
        )
        const [inside, outside] = [
          changed.filter((path) => isWithin(laid.root, path)),
          changed.filter((path) => !isWithin(laid.root, path)),
        ]
        console.log(
          `at ${leash} as ${user.name}: ${ran.length} ran unasked, ${inside.length} files of the project changed`,
        )
        assert.deepEqual(
          {
            leaks: ran.filter((_, i) => `${results[i]!.out}${results[i]!.err}`.includes(canary)),
            outside: outside.map((path) => relative(laid.base, path)),
            read: leash === 'read' ? inside.map((path) => relative(laid.root, path)) : [],
            plants: inside
              .map((path) => relative(laid.root, path))
              // An empty folder stays where its files are in the quarantine.
              .filter((path) => after.has(join(laid.root, path)) && !isFolder(join(laid.root, path)))
              .filter((path) => isPlant(path, laid.root)),
            ...host.state(),
          },
          { leaks: [], outside: [], read: [], plants: [], reached: 0, alive: true },
        )
      },
    )

/** Servers and a process of the host, and the names by which attacks reach for them. */
async function hostOf(t: TestContext, { base, home, away }: HostileProject, { id }: WallUser) {
  let reached = 0
  const servers = [createServer(() => reached++), createServer(() => reached++)] as const
  const socket = join(base, 'socket')
  await Promise.all([
    once(servers[0].listen(0, '127.0.0.1'), 'listening'),
    once(servers[1].listen(socket), 'listening'),
  ])
  if (id !== undefined) give(base, id)
  const options = { env: { ...env, MADE_UP_API_KEY: canary }, stdio: 'ignore' } as const
  const child = spawn('sleep', ['86399'], id === undefined ? options : { ...options, uid: id, gid: id })
  t.after(() => {
    child.kill('SIGKILL')
    for (const server of servers) server.close()
  })
  const { port } = servers[0].address() as AddressInfo
  const names: Record<string, string> = { away, home, socket, port: String(port), pid: String(child.pid) }
  return {
    named: (attack: string) => attack.replaceAll(/\{(away|home|socket|port|pid)\}/g, (_, name: string) => names[name]!),
    state: () => ({ reached, alive: child.exitCode === null && child.signalCode === null }),
  }
}

/** Whether a file that a command has left could start a program later. */
function isPlant(path: string, root: string): boolean {
  if (/(?:^|\/)hooks\//.test(path)) return true
  if (/(?:^|\/)config$/.test(path)) return readFileSync(join(root, path), 'utf8').includes('evil')
  return path === 'opencode.json' || path.split('/').some((part) => part.startsWith('.') && part !== '.git')
}
