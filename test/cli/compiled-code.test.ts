import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Machine, start } from './program.ts'

/** A machine whose compiled code is kept where a person's would be, and the folder of it. */
function fresh(t: TestContext) {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo fine' })
  const cache = join(machine.folder, 'cache')
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: cache }
  return { machine, code: join(cache, 'termaite'), turn: () => machine.run(['-p', 'x', '--ephemeral'], { env }) }
}

/** Compiled code as an earlier build left it, written so many days ago. */
function earlier(code: string, name: string, days: number): void {
  const places = [join(code, name), join(code, name, 'turn')]
  mkdirSync(places[0]!, { recursive: true })
  writeFileSync(places[1]!, 'compiled')
  const at = Date.now() / 1000 - days * 24 * 3600
  for (const place of places.toReversed()) utimesSync(place, at, at)
}

test('the first run of a build removes the compiled code of builds that were not used for days, and nothing else', async (t) => {
  const { code, turn } = fresh(t)
  earlier(code, '0123456789abcdef-v24.0.0-x64', 4)
  earlier(code, 'fedcba9876543210-v22.19.0-arm64', 2)
  earlier(code, 'program-0123456789abcdef', 4)
  earlier(code, 'mine', 4)
  assert.equal((await turn()).out, 'fine\n')
  const version = execFileSync(start[0], ['--version'], { encoding: 'utf8' }).trim()
  const own = readdirSync(code).find((name) => name.endsWith(`-${version}-${process.arch}`))!
  const rest = ['fedcba9876543210-v22.19.0-arm64', 'mine', 'program-0123456789abcdef']
  assert.deepEqual(readdirSync(code).sort(), [own, ...rest].sort())
  // Later runs of the build leave everything as it is.
  earlier(code, '0123456789abcdef-v24.0.0-x64', 4)
  assert.equal((await turn()).out, 'fine\n')
  assert.deepEqual(readdirSync(code).sort(), [own, '0123456789abcdef-v24.0.0-x64', ...rest].sort())
})

test('a run whose compiled code another build removes goes on, and the next one keeps it again', async (t) => {
  const { machine, code, turn } = fresh(t)
  await turn()
  const kept = readdirSync(code)
  machine.agents({ good: `cat >/dev/null; rm -r '${code}'; echo fine` })
  const { code: exit, out } = await turn()
  assert.deepEqual({ exit, out }, { exit: 0, out: 'fine\n' })
  machine.agents({ good: 'cat >/dev/null; echo fine' })
  assert.equal((await turn()).out, 'fine\n')
  assert.deepEqual(readdirSync(code), kept)
})

test('a run that does more than the ones before it keeps the code of that too, and after some runs nothing is written', async (t) => {
  const { machine, code } = fresh(t)
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(machine.folder, 'cache') }
  const file = () => join(code, readdirSync(code)[0]!, 'turn')
  const kept = () => {
    const text = readFileSync(file(), 'latin1')
    const { runs, lengths } = JSON.parse(text.slice(0, text.indexOf('\n'))) as {
      runs: number
      lengths: [string, number][]
    }
    return { runs, main: new Map(lengths).get('main.cjs')!, written: statSync(file(), { bigint: true }).mtimeNs }
  }
  const turn = async () => assert.equal((await machine.run(['-p', 'x'], { env })).out, 'fine\n')
  assert.equal((await machine.run(['-p', 'x', '--agent', 'nobody'], { env })).code, 2)
  const first = kept()
  assert.equal(first.runs, 0, 'a run that failed is none of the first runs')
  await turn()
  assert.ok(kept().main > first.main)
  for (let run = 0; run < 3; run++) await turn()
  const settled = kept()
  assert.equal(settled.runs, 4)
  await turn()
  assert.deepEqual(kept(), settled)
})

test('compiled code that was torn or is not ours is not run, and is kept anew', async (t) => {
  const { machine, code } = fresh(t)
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(machine.folder, 'cache') }
  const turn = async () => assert.equal((await machine.run(['-p', 'x'], { env })).out, 'fine\n')
  await turn()
  const folder = join(code, readdirSync(code)[0]!)
  const file = join(folder, 'turn')
  const whole = readFileSync(file)
  // V8 takes such code for its own, and crashes.
  const damaged = Buffer.from(whole)
  for (let at = damaged.indexOf('\n') + 2_000; at < damaged.length; at += 997) damaged[at]! ^= 0x41
  const written = [
    whole.subarray(0, whole.length - 1),
    whole.subarray(0, 40),
    Buffer.alloc(whole.length),
    damaged,
    '{}\n',
    '',
  ].map((bytes) => () => writeFileSync(file, bytes))
  const notOurs = [
    () => execFileSync('mkfifo', [file]),
    () => symlinkSync('/dev/zero', file),
    ...(process.getuid?.() === 0 ? [() => (writeFileSync(file, whole), chownSync(file, 65_534, 65_534))] : []),
  ]
  for (const lay of [...written, ...notOurs]) {
    rmSync(file)
    lay()
    await turn()
    assert.equal(statSync(file).uid, process.getuid?.())
    const text = readFileSync(file, 'latin1')
    assert.equal((JSON.parse(text.slice(0, text.indexOf('\n'))) as { runs: number }).runs, 1)
    assert.deepEqual(readdirSync(folder), ['turn'])
  }
})

test('the code of another kind of run is kept apart, in files that only the person can read', async (t) => {
  const { machine, code, turn } = fresh(t)
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(machine.folder, 'cache') }
  await turn()
  assert.equal((await machine.run(['-p', 'x'], { env })).out, 'fine\n')
  assert.equal((await machine.run(['sessions'], { env })).code, 0)
  const build = join(code, readdirSync(code)[0]!)
  assert.deepEqual(readdirSync(build), ['ephemeral', 'rest', 'turn'])
  const places = ['', 'ephemeral', 'rest', 'turn'].map((name) => statSync(join(build, name)).mode & 0o777)
  assert.deepEqual(places, [0o700, 0o600, 0o600, 0o600])
})

test('uninstall keeps no compiled code', async (t) => {
  const { machine, code } = fresh(t)
  const env = { NODE_COMPILE_CACHE: '', XDG_CACHE_HOME: join(machine.folder, 'cache') }
  assert.equal((await machine.run(['uninstall', '--yes'], { env })).code, 0)
  assert.equal(existsSync(code), false)
})
