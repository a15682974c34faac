import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ground } from './real.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { endProgram } from '../../src/terminals/program/terminal-program.ts'
import { living, stubbornOnes } from '../contract/terminal-program.ts'
import { drawn, filled } from '../contract/terminal.ts'
import { ground, noTmux, running, tmux } from './real.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A process that has opened a terminal with stubborn children in it, and was killed. */
async function killedKeeper(
  kind: 'tmux' | 'pty',
  t: TestContext,
  { env, cwd, terminals, socket }: Ground,
  bound = false,
) {
  const parts = JSON.stringify({ env, cwd, folder: terminals, socket, bound })
  const argv = [join(import.meta.dirname, 'keeper.ts'), kind, parts, running('stubborn')]
  // The parent never collects the dead process: it stays in the table of processes until the parent ends.
  const parent = spawn('/bin/sh', ['-c', '"$@" & exec sleep 1000', 'sh', process.execPath, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout, 'data')) as [Buffer]
  const told = JSON.parse(line.toString()) as { keeper: number; id: string; pids: number[] }
  assert.deepEqual(await living(told.pids), told.pids)
  process.kill(told.keeper, 'SIGKILL')
  await until(async () => (await living([told.keeper])).length === 0)
  return told
}

/** A tmux that waits with each new pane until it is told to go on. */
function slowTmux({ folder }: Ground, name: string) {
  const program = join(folder, name)
  const script = `#!/bin/sh
case "$*" in *new-window*) : >'${program}.reached'; until [ -e '${program}.go' ]; do sleep 0.05; done ;; esac
exec tmux "$@"
`
  writeFileSync(program, script, { mode: 0o755 })
  return {
    program,
    reached: () => until(() => existsSync(`${program}.reached`)),
    goOn: () => writeFileSync(`${program}.go`, ''),
  }
}

/** The panes of our terminals, by the terminal's id. */
const panes = (place: Ground) =>
  tmux(place, 'list-panes', '-a', '-F', '#{@termaite_id}').split('\n').filter(Boolean).toSorted()

describe('termaite is killed', { concurrency: true }, () => {
  test('an embedded terminal ends with a killed termaite, and leaves no process behind', async (t) => {
    const { pids } = await killedKeeper('pty', t, ground('pty', t))
    await until(async () => (await living(pids)).length === 0)
  })

  test('a tmux pane goes on when termaite is killed, and the next termaite finds it', { skip: noTmux }, async (t) => {
    const place = ground('tmux', t)
    const { id, pids } = await killedKeeper('tmux', t, place)
    const terminal = (await place.host.find(id))!
    assert.deepEqual(await living(pids), pids)
    // Output from before is there, at the same positions.
    await drawn(terminal, `child ${pids[0]}`)
    assert.equal(filled(await terminal.screen()).length, 2)
    await terminal.close()
    assert.deepEqual([await living(pids), await place.host.find(id)], [[], undefined])
  })

  test('a tmux pane that is bound to termaite ends with it, and is closed', { skip: noTmux }, async (t) => {
    const place = ground('tmux', t)
    // The person's own window: the server goes on.
    tmux(place, 'new-session', '-d', 'sleep 1000')
    const { id, pids } = await killedKeeper('tmux', t, place, true)
    await until(async () => (await living(pids)).length === 0)
    await until(() => tmux(place, 'list-panes', '-a', '-F', '#{pane_start_command}').trim() === '"sleep 1000"')
    assert.equal(await place.host.find(id), undefined)
  })

  test('a server that is ended together with four keepers can be started again', { skip: noTmux }, async (t) => {
    const place = ground('tmux', t)
    const { env, cwd, terminals: folder, socket } = place
    const parts = JSON.stringify({ env, cwd, folder, socket, busy: true })
    const argv = [join(import.meta.dirname, 'keeper.ts'), 'tmux', parts, running('stubborn')]
    // The programs ignore the end of their server, so the test ends them itself.
    const left: string[] = []
    t.after(() => Promise.all(left.map((id) => endProgram(id, undefined, realClock))))
    // Tmux hangs in about half of the tries where its control clients outlive their keepers.
    for (let round = 0; round < 4; round++) {
      const keepers = [1, 2, 3, 4].map(() => spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 2] }))
      t.after(() => keepers.forEach((keeper) => keeper.kill('SIGKILL')))
      const opened = await Promise.all(keepers.map(async ({ stdout }) => String((await once(stdout!, 'data'))[0])))
      for (const keeper of keepers) keeper.kill('SIGKILL')
      tmux(place, 'kill-server')
      left.push(...opened.map((line) => (JSON.parse(line) as { id: string }).id))
      await until(() => spawnSync('tmux', ['-L', socket, 'list-sessions'], { env }).stderr.includes('no server'))
      const terminal = await place.host.open('cat', { cwd })
      await terminal.write('again\r')
      await drawn(terminal, 'again\r\nagain')
      await terminal.close()
    }
  })

  test('closing a host ends the panes that are bound to this process', { skip: noTmux }, async (t) => {
    const { env, cwd, terminals: folder, socket, host } = ground('tmux', t)
    const bound = tmuxHost({ env, folder, socket, clock: realClock, bound: true })
    const terminal = await bound.open(running('stubborn'), { cwd })
    const pids = await stubbornOnes(terminal)
    await bound.close()
    assert.deepEqual([await living(pids), await host.find(terminal.id)], [[], undefined])
  })

  test('a terminal whose opening was cut off by a kill can be opened again, once', { skip: noTmux }, async (t) => {
    const place = ground('tmux', t)
    const { env, cwd, terminals: folder, socket, host } = place
    // Our session stands, so that a late pane finds its place.
    const other = await host.open('sleep 1000', { cwd })
    const id = '5f6ad2b8-6d0b-4c5e-9d39-3a0c4d8a3c11'
    const killed = slowTmux(place, 'killed-tmux')
    const parts = JSON.stringify({ env, cwd, folder, socket, id, program: killed.program })
    const keeper = spawn(process.execPath, [join(import.meta.dirname, 'keeper.ts'), 'tmux', parts, 'sleep 1001'])
    t.after(() => keeper.kill('SIGKILL'))
    await killed.reached()
    keeper.kill('SIGKILL')
    await once(keeper, 'exit')
    assert.equal(await host.find(id), undefined)

    const next = slowTmux(place, 'next-tmux')
    const hosted = tmuxHost({ env, folder, socket, clock: realClock, program: next.program })
    t.after(() => hosted.close())
    const opening = hosted.open('cat', { cwd, id })
    await next.reached()
    // The tmux client of the killed process goes on, and two shells begin at the same time.
    const run = ['new-window', '-d', '-t', '=termaite:', '/bin/sh', join(folder, id, 'run')]
    tmux(place, ...run, ';', ...run)
    killed.goOn()
    next.goOn()
    const terminal = await opening
    await terminal.write('still here\r')
    await drawn(terminal, 'still here\r\nstill here')
    await until(() => panes(place).length === 2)
    assert.deepEqual(panes(place), [other.id, id].toSorted())
    await golden.rejects(t, host.open('cat', { cwd, id }))
    assert.equal((await host.find(id))?.id, id, 'the refusal left it alone')
  })

  test(
    'a terminal is opened although a client that hangs holds the server that was killed',
    { skip: noTmux },
    async (t) => {
      const place = ground('tmux', t)
      const { env, cwd, socket, host } = place
      await host.open('cat', { cwd })
      const server = Number(tmux(place, 'display-message', '-p', '#{pid}'))
      const attach = ['-C', 'attach-session', '-f', 'no-output,ignore-size', '-t', '=termaite']
      const client = spawn('tmux', ['-L', socket, ...attach], { env, stdio: ['pipe', 'pipe', 'ignore'] })
      t.after(() => client.kill('SIGKILL'))
      await once(client.stdout, 'data')
      client.kill('SIGSTOP')
      tmux(place, 'kill-server')
      const terminal = await host.open('cat', { cwd })
      assert.deepEqual(await living([server]), [server])
      await terminal.write('still here\r')
      await drawn(terminal, 'still here\r\nstill here')
      // The old server goes with its client, and the new one stays.
      client.kill('SIGKILL')
      await until(async () => (await living([server])).length === 0)
      assert.equal((await host.find(terminal.id))?.id, terminal.id)
      assert.deepEqual(panes(place), [terminal.id])
    },
  )
})
