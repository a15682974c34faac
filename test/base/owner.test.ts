import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isAlive, isHere, ownerMark, ownerPid, processStart } from '../../src/base/process/owner.ts'

const [place, boot, pid, start] = ownerMark().split(',') as [string, string, string, string]
const mark = (...parts: (string | number)[]) => parts.join(',')

test('this process has one owner mark, and lives', () => {
  assert.equal(ownerMark(), ownerMark())
  assert.equal(ownerPid(ownerMark()), process.pid)
  assert.match(ownerMark(), /^[\w.%-]+,[\w-]*,\d+,.+$/)
  assert.equal(isAlive(ownerMark()), true)
})

test('a pid that came again, another boot, another machine', () => {
  assert.equal(isAlive(mark(place, boot, pid, '1')), false)
  assert.equal(isAlive(mark(place, 'another-boot', pid, start)), false)
  assert.equal(isAlive(mark('another-machine', boot, pid, start)), true)
  assert.equal(isAlive(mark(place, boot, pid)), false)
  assert.equal(isAlive(mark(place)), false)
  assert.deepEqual(
    [ownerMark(), mark(place, 'another-boot', pid, start), mark('another-machine', boot, pid, start)].map(isHere),
    [true, true, false],
  )
})

test('a child lives until it is killed, also while its parent has not collected it', async () => {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("up"); setInterval(() => {}, 1000)'])
  await once(child.stdout, 'data')
  const owner = mark(place, boot, child.pid!, processStart(child.pid!)!)
  assert.equal(isAlive(owner), true)
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  assert.equal(isAlive(owner), false)
})

test('a process that could not learn its start time is known by its pid', () => {
  assert.equal(isAlive(mark(place, boot, pid, '')), true)
  assert.equal(isAlive(mark(place, boot, 2 ** 22 + 1, '')), false)
})

test('a process is not called dead because too many files are open to look at it', () => {
  const script = `
    import { openSync } from 'node:fs'
    import { isAlive, ownerMark } from '${join(import.meta.dirname, '../../src/base/process/owner.ts')}'
    const dead = ownerMark().replace(String(process.pid), String(2 ** 22 + 1))
    try { for (;;) openSync('/dev/null') } catch (error) { console.log(error.code, isAlive(ownerMark()), isAlive(dead)) }`
  const args = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script]
  const { stdout } = spawnSync('bash', args, { encoding: 'utf8' })
  assert.equal(stdout, 'EMFILE true false\n')
})

test('without /proc, ps gives the same owners', { skip: spawnSync('ps').error && 'there is no ps here' }, () => {
  const first = processStart(process.pid, 'darwin')
  assert.match(first ?? '', /^\w{3} \w{3} +\d+ [\d:]{8} \d{4}$/)
  assert.equal(processStart(process.pid, 'darwin'), first)
  assert.equal(processStart(2 ** 22 + 1, 'darwin'), undefined)
})
