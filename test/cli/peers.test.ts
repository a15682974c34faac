import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { TurnAtWork } from '../../src/core/turns/peer.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { socketFolders } from '../../src/wire/peer/peer-sockets.ts'
import { servePeer } from '../../src/wire/peer/peer-server.ts'
import { peers } from '../../src/wire/peer/peers.ts'
import { following, shown } from '../contract/peer.ts'
import { Machine, ended } from './program.ts'
import { until } from '../until.ts'

/** Says one word, waits until it may go on, and says another. */
const twoWords = 'cat >/dev/null; echo one; while [ ! -e go ]; do sleep 0.02; done; echo two'

/** A turn of another process, and this process as its peer, through as many doors as are wanted. */
async function met(machine: Machine, t: TestContext, args: readonly string[]) {
  const child = machine.start(args)
  child.stdin!.end()
  const result = ended(child)
  t.after(() => child.kill('SIGKILL'))
  const meet = () =>
    until(async () => {
      const [peer] = await peers(machine.home, realClock)
      if (peer) t.after(() => peer.close())
      return peer
    })
  const peer = await meet()
  const turn = await until(async () => (await peer.turns())[0])
  return { child, result, peer, turn, meet }
}

const go = (machine: Machine) => writeFileSync(join(machine.project, 'go'), '')

function facts(machine: Machine, turn: TurnAtWork) {
  return machine.history().filter((entry) => entry.turn === turn.turn)
}

test('two processes follow the turn of a third: what was said before they came, and all that is kept', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: twoWords })
  const { child, result, peer, turn, meet } = await met(machine, t, ['-p', 'count'])
  const followers = [following(peer, turn.turn), following(await meet(), turn.turn)]
  for (const { seen } of followers) await seen((events) => events.some(({ type }) => type === 'text'))
  const [known] = await peer.turns()
  assert.deepEqual(
    { ...known, turn: '', session: '', since: 0 },
    { turn: '', session: '', since: 0, prompt: 'count', project: machine.project, by: 'slow' },
  )
  assert.equal(peer.pid, child.pid)
  go(machine)
  const [one, other] = await Promise.all(followers.map(({ over }) => over))
  const { code, out } = await result
  assert.deepEqual({ code, out }, { code: 0, out: 'one\ntwo\n' })
  assert.deepEqual(shown(one!), shown(other!))
  assert.deepEqual(
    one!.flatMap((event) => ('id' in event ? [event.id] : [])),
    facts(machine, turn).map(({ id }) => id),
  )
  assert.equal(one!.map((event) => (event.type === 'text' ? event.delta : '')).join(''), 'one\ntwo\n')
  assert.equal(one!.at(-1)!.type, 'end')
  assert.equal(existsSync(join(machine.home, 'run')), false)
})

test('a turn is cancelled from another process as Ctrl+C would, and takes no words that its agent cannot', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: twoWords })
  const { result, peer, turn } = await met(machine, t, ['-p', 'count'])
  const seen = following(peer, turn.turn)
  await seen.seen((events) => events.some(({ type }) => type === 'text'))
  // The process in which the words were typed keeps them for a turn of its own.
  assert.equal(await peer.steer(turn.turn, 'in French'), false)
  assert.equal(await peer.cancel(turn.turn), true)
  const { code, err } = await result
  assert.equal(code, 130)
  assert.doesNotMatch(err, /typed meanwhile/)
  assert.equal((await seen.over).at(-1)!.type, 'end')
  assert.deepEqual(machine.kept(), [
    ['prompt', 'user', 'count'],
    ['words', 'slow', 'one'],
    ['end', 'rotation', 'aborted'],
  ])
})

test('without a person at the terminal, a question is answered by a follower, and kept as the person’s answer', async (t) => {
  const machine = new Machine(t)
  const first = `cat >/dev/null; [ -e slow ] || { echo first; exit; }; while [ ! -e go ]; do sleep 0.02; done; exit 3`
  machine.agents({ first, second: 'cat >/dev/null; echo second' }, { sharing: 'ask', rotationStrategy: 'exhaustion' })
  assert.equal((await machine.run(['-p', 'begin'])).out, 'first\n')
  writeFileSync(join(machine.project, 'slow'), '')
  const { result, peer, turn } = await met(machine, t, ['-p', 'go on'])
  const follower = following(peer, turn.turn)
  await follower.seen(({ length }) => length > 0)
  go(machine)
  const events = await follower.seen((all) => all.some(({ type }) => type === 'question'))
  const question = events.find((event) => event.type === 'question')!
  const { id } = question.question.options.find(({ means }) => means === 'always')!
  assert.deepEqual(
    [
      await peer.answer(turn.turn, 'another question', [id]),
      await peer.answer(turn.turn, question.ask, [id]),
      await peer.answer(turn.turn, question.ask, ['no']),
    ],
    [false, true, false],
  )
  assert.equal((await result).out, 'second\n')
  const answers = facts(machine, turn).filter(({ type }) => type === 'answer')
  assert.deepEqual(
    answers.map((entry) => ({ ...entry, id: '', at: 0 })),
    [{ ...answers[0], id: '', at: 0, type: 'answer', by: 'user', ask: question.ask, picks: [id] }],
  )
})

test('a question has no answer when its last follower has gone', async (t) => {
  const machine = new Machine(t)
  const first = `cat >/dev/null; [ -e slow ] || { echo first; exit; }; while [ ! -e go ]; do sleep 0.02; done; exit 3`
  machine.agents({ first, second: 'cat >/dev/null; echo second' }, { sharing: 'ask', rotationStrategy: 'exhaustion' })
  await machine.run(['-p', 'begin'])
  writeFileSync(join(machine.project, 'slow'), '')
  const { result, peer, turn } = await met(machine, t, ['-p', 'go on'])
  const follower = following(peer, turn.turn)
  await follower.seen(({ length }) => length > 0)
  go(machine)
  await follower.seen((all) => all.some(({ type }) => type === 'question'))
  await peer.close()
  const { code, out } = await result
  assert.deepEqual({ code: code === 0, out }, { code: false, out: '' })
})

test('kill -9 ends the follow; the next list of peers removes the socket', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: twoWords })
  const { child, result, peer, turn } = await met(machine, t, ['-p', 'count'])
  const follower = following(peer, turn.turn)
  await follower.seen((events) => events.some(({ type }) => type === 'text'))
  const run = join(machine.home, 'run')
  assert.deepEqual(
    [run, join(run, readdirSync(run)[0]!)].map((path) => lstatSync(path).mode & 0o777),
    [0o700, 0o600],
  )
  child.kill('SIGKILL')
  await result
  assert.equal((await follower.over).at(-1)!.type, 'text')
  assert.equal(existsSync(run), true)
  assert.equal((await machine.run(['ps'])).err, 'No turn is running.\n')
  assert.equal(existsSync(run), false)
})

test('ps shows a turn of which nothing is kept, with who speaks, and stop ends it', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: twoWords })
  const { child, result, peer, turn } = await met(machine, t, ['-p', 'in secret', '--ephemeral'])
  await following(peer, turn.turn).seen((events) => events.some(({ type }) => type === 'text'))
  const { out } = await machine.run(['ps', '--json'])
  const row = { turn: turn.turn, pid: child.pid, since: turn.since, project: machine.project, prompt: 'in secret' }
  assert.deepEqual(JSON.parse(out), [{ ...row, by: 'slow' }])
  const lines = (await machine.run(['ps'])).out.split('\n').map((line) => line.split(/ {2,}/))
  assert.deepEqual(lines[0], ['TURN', 'PID', 'SINCE', 'AGENT', 'PROJECT', 'PROMPT'])
  assert.deepEqual([lines[1]![3], lines[1]![5]], ['slow', 'in secret'])
  const where = JSON.parse((await machine.run(['where', '--json'])).out) as { sockets: string[] }
  assert.deepEqual(where.sockets.map(dirname), [join(machine.home, 'run')])
  const stopped = await machine.run(['stop', '--all'])
  assert.deepEqual({ code: stopped.code, out: stopped.out }, { code: 0, out: `Stopped ${turn.turn}: in secret\n` })
  assert.equal((await result).code, 130)
})

test('stop cancels one turn of a process that has more to do, and sends it no signal', async (t) => {
  const machine = new Machine(t)
  machine.agents({ unused: 'true' })
  const turns = new RunningTurns()
  const served = (await servePeer(turns, machine.home, realClock))!
  t.after(() => served.close())
  const about = { session: 's', prompt: 'of this process', since: 1 }
  const wishes: string[] = []
  for (const turn of ['one', 'two']) {
    const atWork = turns.begin(
      { ...about, turn },
      {
        cancel: () => {
          wishes.push(turn)
          atWork.end()
        },
        steer: () => false,
        answer: () => false,
      },
    )
  }
  const { code, out } = await machine.run(['stop', 'two'])
  assert.deepEqual({ code, out, wishes }, { code: 0, out: 'Stopped two: of this process\n', wishes: ['two'] })
  assert.deepEqual(await turns.turns(), [{ ...about, turn: 'one' }])
})

test('stop interrupts a process that no longer answers at its socket', async (t) => {
  const machine = new Machine(t)
  machine.agents({ slow: twoWords })
  const { result, turn } = await met(machine, t, ['-p', 'count'])
  rmSync(join(machine.home, 'run'), { recursive: true })
  const stopped = await machine.run(['stop', turn.turn])
  assert.deepEqual({ code: stopped.code, out: stopped.out }, { code: 0, out: `Stopped ${turn.turn}: count\n` })
  assert.equal((await result).code, 130)
})

test('a home whose path is too long for a socket is served from a short one', async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'x'.repeat(90), 'y'.repeat(90))
  mkdirSync(home, { recursive: true })
  const [short, ...others] = socketFolders(home)
  assert.deepEqual([dirname(short!), others], ['/tmp', []])
  const far = new Machine(t, home)
  far.agents({ slow: twoWords })
  const { result, peer, turn } = await met(far, t, ['-p', 'count'])
  assert.equal(lstatSync(short!).mode & 0o777, 0o700)
  assert.equal(await peer.cancel(turn.turn), true)
  assert.equal((await result).code, 130)
  assert.deepEqual([existsSync(short!), existsSync(join(home, 'run'))], [false, false])
})

test('a follower that has stopped reading keeps no turn and no process alive', { timeout: 30_000 }, async (t) => {
  const machine = new Machine(t)
  machine.agents({ loud: `cat >/dev/null; while [ ! -e go ]; do sleep 0.02; done; seq 1 300000` })
  const { result, turn } = await met(machine, t, ['-p', 'count'])
  const stuck = await silentFollower(machine, turn.turn)
  t.after(() => stuck.kill('SIGKILL'))
  go(machine)
  const { code, out } = await result
  assert.deepEqual({ code, last: out.trimEnd().split('\n').at(-1) }, { code: 0, last: '300000' })
})

/** Another process that follows a turn, and is stopped before it reads a word of it. */
async function silentFollower(machine: Machine, turn: string): Promise<ChildProcess> {
  const { spawn } = await import('node:child_process')
  const [socket] = readdirSync(join(machine.home, 'run'))
  const code = `
    const socket = require('node:net').connect(process.argv[1])
    socket.pause().write(JSON.stringify({ id: 1, method: 'follow', params: { turn: process.argv[2] } }) + '\\n', () => {
      console.log('follows')
      process.kill(process.pid, 'SIGSTOP')
    })`
  const child = spawn(process.execPath, ['-e', code, join(machine.home, 'run', socket!), turn])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}
