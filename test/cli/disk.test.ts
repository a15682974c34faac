import type { TestContext } from 'node:test'
import type { Entry } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until as seen } from '../until.ts'
import { ended, Machine, shownTexts } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A machine whose home is a small disk; none, and a skipped test, where nothing can be mounted. */
function smallDisk(t: TestContext): Machine | undefined {
  const home = mkdtempSync(join(tmpdir(), 'termaite-disk-'))
  const run = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', home], { encoding: 'utf8' })
  t.after(() => {
    if (run.status === 0) execFileSync('umount', ['-l', home])
    rmdirSync(home)
  })
  if (run.status === 0) return new Machine(t, home)
  t.skip(`nothing can be mounted here: ${run.stderr?.trim() || run.error?.message}`)
  return undefined
}

/** Takes all the room there is. */
function fill(home: string): void {
  for (let size = 1_000_000, i = 0; size >= 4096; i++) {
    try {
      writeFileSync(join(home, `ballast${i}`), Buffer.alloc(size))
    } catch {
      rmSync(join(home, `ballast${i}`), { force: true })
      size /= 2
    }
  }
}

test('a disk that is full before a turn: one sentence, exit 1, and no agent is started', async (t) => {
  const machine = smallDisk(t)
  if (!machine) return
  const witness = join(machine.folder, 'ran')
  machine.agents({ good: 'cat >/dev/null; echo the answer' })
  assert.equal((await machine.run(['-p', 'one'])).code, 0)
  const before = machine.history()
  machine.agents({ good: `touch ${witness}; echo the answer` })
  fill(machine.home)
  const { code, out, err } = await machine.run(['-p', 'x'.repeat(20_000)])
  assert.deepEqual({ code, out, ran: existsSync(witness) }, { code: 1, out: '', ran: false })
  golden(t, err, { [machine.home]: '<home>', [machine.slug]: '<slug>' })
  for (let i = 0; existsSync(join(machine.home, `ballast${i}`)) || i < 5; i++)
    rmSync(join(machine.home, `ballast${i}`), { force: true })
  assert.equal((await machine.run(['-p', 'two'])).code, 0)
  // The part of the prompt that was written before the disk was full is one torn line, and hides no other.
  const exported = (await machine.run(['sessions', 'export', '--format', 'jsonl'])).out.trim().split('\n')
  const entries = exported.map((line) => JSON.parse(line) as Entry)
  assert.deepEqual(entries.slice(0, before.length), before)
  assert.deepEqual(
    entries.slice(before.length).map(({ type }) => type),
    ['prompt', 'reply', 'usage', 'end'],
  )
})

test('a disk that fills up during a turn: the answer is printed all the same, with a warning that it was not kept', async (t) => {
  const machine = smallDisk(t)
  if (!machine) return
  const fillUp = `for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > ${machine.home}/ballast$i 2>/dev/null; done`
  machine.agents({ good: `cat >/dev/null; ${fillUp}; seq 1 2000` })
  const { code, out, err } = await machine.run(['-p', 'one'])
  assert.deepEqual({ code, lines: out.split('\n').length }, { code: 1, lines: 2001 })
  assert.match(err, /^termaite: the turn ran, but it could not be saved: cannot write \S+: the disk is full/m)
})

test('a read-only home is one sentence and exit 1', async (t) => {
  const machine = smallDisk(t)
  if (!machine) return
  machine.agents({ good: 'echo the answer' })
  execFileSync('mount', ['-o', 'remount,ro', machine.home])
  const { code, out, err } = await machine.run(['-p', 'one'])
  assert.deepEqual({ code, out }, { code: 1, out: '' })
  golden(t, err, { [machine.home]: '<home>' })
})

test('a disk that is full while an answer streams: one warning, and with room again the answer is kept and nothing is left', async (t) => {
  const machine = smallDisk(t)
  if (!machine) return
  const [more, end] = [join(machine.folder, 'more'), join(machine.folder, 'end')]
  const until = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`
  machine.agents({ slow: `cat >/dev/null; echo one; ${until(more)}; printf '%09000d\\n' 2; ${until(end)}; echo three` })
  const child = machine.start(['-p', 'count'])
  child.stdin!.end()
  const ran = ended(child)
  let said = ''
  child.stderr!.on('data', (chunk: string) => (said += chunk))
  await seen(() => shownTexts(machine.home).length > 0)
  fill(machine.home)
  writeFileSync(more, '')
  await seen(() => said.includes('cannot be saved'))
  for (const name of readdirSync(machine.home)) if (name.startsWith('ballast')) rmSync(join(machine.home, name))
  writeFileSync(end, '')
  const { code, out, err } = await ran
  assert.deepEqual({ code, out }, { code: 0, out: `one\n${'0'.repeat(8999)}2\nthree\n` }, err)
  const warnings = err
    .split('\n')
    .filter((line) => line.startsWith('The text that agents show cannot be saved while this turn runs: '))
  assert.equal(warnings.length, 1, err)
  assert.match(
    warnings[0]!,
    /the disk is full.* The turn continues; the text is lost only if termaite is killed before the turn ends\.$/,
  )
  assert.deepEqual(shownTexts(machine.home), [])
})
