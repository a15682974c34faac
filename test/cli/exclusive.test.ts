import { test } from 'node:test'
import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, ended } from './program.ts'
import { until } from '../until.ts'

/** Says when it began and ended, so that two at a time show. */
const slow = 'cat > /dev/null; echo begin >> marks; sleep 0.3; echo end >> marks; echo done'

test('three --exclusive turns started together in three sessions run one at a time, in the order of the log', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow })
  const runs = ['one', 'two', 'three'].map((name) => machine.run(['-p', name, '--session', name, '--exclusive']))
  assert.deepEqual(
    (await Promise.all(runs)).map(({ code, out }) => ({ code, out })),
    Array(3).fill({ code: 0, out: 'done\n' }),
  )
  assert.deepEqual(
    readFileSync(join(machine.project, 'marks'), 'utf8').trim().split('\n'),
    Array(3).fill(['begin', 'end']).flat(),
  )
  const order = (type: string) =>
    machine
      .history()
      .filter((entry) => entry.type === type)
      .map(({ session }) => session)
  assert.deepEqual(order('end'), order('prompt'))
})

test('a turn that stood in line is told what was said meanwhile, and its diff is its own', async (t) => {
  const machine = new Machine(t)
  const go = join(machine.folder, 'go')
  const command = `cat > $$.seen; until [ -e ${go} ]; do sleep 0.02; done; echo done`
  machine.agents({ writer: command }, { metaInstruction: false })
  const first = machine.run(['-p', 'the first'])
  await until(() => readdirSync(machine.project).length > 0)
  const waiting = machine.start(['-p', 'the second', '--exclusive'])
  waiting.stdin!.end()
  waiting.stderr!.on('data', (said) => String(said).includes('Waiting for the turn') && writeFileSync(go, ''))
  const second = await ended(waiting)
  assert.equal((await first).code, 0)
  assert.match(
    second.err,
    /^Another turn has been running in this project since .*: the first\nWaiting for the turn before this one\.$/m,
  )
  const seen = readdirSync(machine.project).map((name) => readFileSync(join(machine.project, name), 'utf8'))
  assert.equal(seen.filter((text) => /the first\n.*\ndone\n.*the second/s.test(text)).length, 1)
  const { stat } = JSON.parse((await machine.run(['diff', '--json'])).out) as { stat: { status: string }[] }
  assert.deepEqual(
    stat.map(({ status }) => status),
    ['added'],
  )
})

test('a turn that stands in line can be stopped, and the one it waits for goes on', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: 'cat > /dev/null; echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo done' })
  const first = machine.run(['-p', 'the first'])
  await until(() => readdirSync(machine.project).includes('begun'))
  const second = machine.run(['-p', 'the second', '--exclusive'])
  await until(() => machine.history().some((entry) => entry.type === 'prompt' && entry.text === 'the second'))
  const { turn } = machine.history().find((entry) => entry.type === 'prompt' && entry.text === 'the second')!
  assert.equal((await machine.run(['stop', turn])).code, 0)
  assert.equal((await second).code, 130)
  writeFileSync(join(machine.project, 'go'), '')
  const { code, out } = await first
  assert.deepEqual({ code, out }, { code: 0, out: 'done\n' })
  const ends = machine
    .history()
    .flatMap((entry) => (entry.type === 'end' ? [entry.outcome.ok || entry.outcome.failure.kind] : []))
  assert.deepEqual(ends, ['aborted', true])
})

test('a turn of another machine is named and not waited for', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat > /dev/null; echo done' })
  await machine.run(['-p', 'hello'])
  machine.leavePrompt('far away', 'elsewhere,boot,1,1')
  const { code, out, err } = await machine.run(['-p', 'again', '--exclusive'])
  assert.deepEqual({ code, out }, { code: 0, out: 'done\n' })
  assert.match(err, /^Another turn has been running .*, on another machine, where its end cannot be seen: far away$/m)
})

test('a turn that runs for longer than any number of lines is still seen', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: 'cat > /dev/null; echo > begun; while [ ! -e go ]; do sleep 0.05; done; echo done' })
  const child = machine.start(['-p', 'a long one', '--session', 'long'])
  const result = ended(child)
  child.stdin!.end()
  await until(() => readdirSync(machine.project).includes('begun'))
  const note = JSON.stringify({ ...machine.history()[0], type: 'note', text: 'x'.repeat(100), session: 's', turn: 't' })
  appendFileSync(machine.file('history.jsonl'), `${note}\n`.repeat(6_000))
  for (let look = 0; look < 2; look++) {
    const turns = JSON.parse((await machine.run(['ps', '--json'])).out) as { pid: number; prompt: string }[]
    assert.deepEqual(
      turns.map(({ pid, prompt }) => ({ pid, prompt })),
      [{ pid: child.pid, prompt: 'a long one' }],
    )
    machine.agents({ good: 'cat > /dev/null; echo done' })
    const { err } = await machine.run(['-p', 'meanwhile'])
    assert.match(err, /^Another turn has been running in this project since .*: a long one$/m)
  }
  writeFileSync(join(machine.project, 'go'), '')
  assert.equal((await result).code, 0)
  assert.deepEqual(await machine.run(['ps', '--json']), { code: 0, signal: null, out: '[]\n', err: '' })
  await machine.run(['-p', 'after'])
  const { over } = JSON.parse(readFileSync(machine.file('project.json'), 'utf8')) as { over: number }
  assert.ok(over > 6_000 * note.length, 'what is over is not read again')
})
