import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, ended } from './program.ts'
import { until } from '../until.ts'

/** The living processes that carry a word in their command line or environment. */
function alive(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return false
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
      } catch {
        return false
      }
    })
}

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' }
let marks = 0
/** A duration nobody else sleeps for, so that our own sleepers can be counted. */
const mark = () => `77${process.pid}.${++marks}`

/** Each leaves a sleeper with the mark behind, in its own stubborn way. */
const stubborn: Record<string, (mark: string) => string> = {
  'a background child': (m) => `sh -c 'sleep ${m} & wait'`,
  'a command that ignores SIGTERM': (m) => `trap '' TERM; sleep ${m} & while :; do wait; done`,
  'a grandchild in a session of its own': (m) => `setsid sleep ${m} & sleep ${m}`,
}

/** A turn whose agent has come so far that its sleeper runs. */
async function atWork(machine: Machine, m: string) {
  const child = machine.start(['-p', 'x'])
  const result = ended(child)
  child.stdin!.end()
  await until(() => alive(m).length > 0)
  return { child, result }
}

test('a daemon that outlives a successful turn is named with its number and how to end it', linux, async (t) => {
  const machine = new Machine(t)
  const m = mark()
  machine.agents({ good: `cat >/dev/null; setsid sleep ${m} >/dev/null 2>&1 & echo ok` })
  const { code, out, err } = await machine.run(['-p', 'x', '--leash', 'all'])
  const pids = alive(m)
  for (const pid of pids) process.kill(pid)
  assert.deepEqual({ code, out, pids: pids.length }, { code: 0, out: 'ok\n', pids: 1 })
  const line = `This turn left a process running: ${pids[0]} (sleep ${m}). To end it: kill ${pids[0]}`
  assert.ok(err.split('\n').includes(line), err)
})

for (const [what, command] of Object.entries(stubborn)) {
  test(`silence leaves no descendant alive: ${what}`, linux, async (t) => {
    const machine = new Machine(t)
    const m = mark()
    machine.agents({ hung: command(m), good: 'cat >/dev/null; echo ok' }, { silenceSeconds: 0.5 })
    const { code, out, err } = await machine.run(['-p', 'x'])
    assert.deepEqual({ code, out, left: alive(m) }, { code: 0, out: 'ok\n', left: [] })
    assert.match(err, /^hung /m)
  })

  test(`Ctrl+C leaves no descendant alive: ${what}`, linux, async (t) => {
    const machine = new Machine(t)
    const m = mark()
    machine.agents({ hung: command(m) })
    const { child, result } = await atWork(machine, m)
    child.kill('SIGINT')
    const { code, out } = await result
    assert.deepEqual({ code, out, left: alive(m) }, { code: 130, out: '', left: [] })
    assert.deepEqual(machine.kept(), [
      ['prompt', 'user', 'x'],
      ['end', 'rotation', 'aborted'],
    ])
  })

  test(`our own kill -9 leaves no descendant alive, and the next start settles the turn: ${what}`, linux, async (t) => {
    const machine = new Machine(t)
    const m = mark()
    machine.agents({ hung: command(m) })
    const { child, result } = await atWork(machine, m)
    child.kill('SIGKILL')
    await result
    await until(() => alive(m).length === 0)
    machine.agents({ good: 'cat >/dev/null; echo ok' })
    assert.equal((await machine.run(['-p', 'again'])).code, 0)
    assert.deepEqual(machine.kept(), [
      ['prompt', 'user', 'x'],
      ['end', 'termaite', 'aborted'],
      ['prompt', 'user', 'again'],
      ['reply', 'good', 'ok'],
      ['end', 'rotation', 'ok'],
    ])
  })
}

test('a timeout ends the whole group too', linux, async (t) => {
  const machine = new Machine(t)
  const m = mark()
  machine.agents(
    { slow: `while :; do echo .; sleep 0.1; done & sleep ${m}`, good: 'cat >/dev/null; echo ok' },
    { timeoutSeconds: 0.7 },
  )
  const { code, out } = await machine.run(['-p', 'x', '-a', 'slow'])
  assert.deepEqual({ code, out, left: alive(m) }, { code: 0, out: 'ok\n', left: [] })
})

test('ps shows a turn at work, stop ends it from another process', linux, async (t) => {
  const machine = new Machine(t)
  const m = mark()
  machine.agents({ slow: `sleep ${m}` })
  const child = machine.start(['-p', 'a long one'])
  const result = ended(child)
  child.stdin!.end()
  await until(() => alive(m).length > 0)
  const [turn, ...others] = JSON.parse((await machine.run(['ps', '--json'])).out) as {
    turn: string
    pid: number
    project: string
    prompt: string
    since: number
  }[]
  assert.deepEqual(
    [{ ...turn, turn: '', since: 0 }, others],
    [{ turn: '', since: 0, pid: child.pid, project: machine.project, prompt: 'a long one' }, []],
  )
  const stopped = await machine.run(['stop', turn!.turn.slice(0, 20)])
  assert.deepEqual({ code: stopped.code, out: stopped.out }, { code: 0, out: `Stopped ${turn!.turn}: a long one\n` })
  assert.equal((await result).code, 130)
  assert.deepEqual(alive(m), [])
  assert.equal((await machine.run(['ps'])).err, 'No turn is running.\n')
})

test('escape sequences of an agent never reach stdout or the history', async (t) => {
  const machine = new Machine(t)
  machine.agents({
    loud: String.raw`cat >/dev/null; printf '\033]52;c;aGk=\007\033[31mred\033[0m \033]0;title\033\\done\a\n'`,
  })
  const { out } = await machine.run(['-p', 'x'])
  assert.equal(out, 'red done\n')
  assert.deepEqual(machine.kept()[1], ['reply', 'loud', 'red done'])
})

test('an answer too long for memory is printed whole and kept whole', async (t) => {
  const machine = new Machine(t)
  machine.agents({ long: 'cat >/dev/null; seq 1 400000' })
  const { code, out } = await machine.run(['-p', 'x'])
  const expected = Array.from({ length: 400_000 }, (_, i) => i + 1).join('\n')
  assert.equal(code, 0)
  assert.equal(out.trimEnd() === expected, true, 'the whole answer, byte for byte')
  const reply = machine.history().find(({ type }) => type === 'reply')!
  const [slug] = readdirSync(join(machine.home, 'projects'))
  const blob = join(machine.home, 'projects', slug!, 'output', reply.whole!.sha)
  assert.ok(existsSync(blob))
  assert.equal(readFileSync(blob, 'utf8').trimEnd() === expected, true)
  assert.ok(JSON.stringify(reply).length < 64 * 1024)
})
