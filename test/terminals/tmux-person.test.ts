import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import pty from '@lydell/node-pty'
import { realClock } from '../../src/base/time/clock.ts'
import { TerminalFiles } from '../../src/terminals/tmux/terminal-files.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { living, stubbornOnes } from '../contract/terminal-program.ts'
import { drawn, filled } from '../contract/terminal.ts'
import { commands, ground, noTmux, running, tmux } from './real.ts'
import { until } from '../until.ts'

describe('tmux and a person', { concurrency: 4, skip: noTmux }, () => {
  const behaviour = (title: string, run: (place: ReturnType<typeof ground>) => Promise<void>) => {
    test(title, (t) => run(ground('tmux', t)))
  }

  behaviour('a window that is closed by hand has exited, with the processes that ignored it', async (place) => {
    const { host, cwd } = place
    const terminal = await host.open(running('stubborn'), { cwd })
    const pids = await stubbornOnes(terminal)
    const { exited } = terminal
    tmux(place, 'kill-window', '-t', 'termaite:')
    assert.deepEqual(await exited, { signal: 1 })
    assert.deepEqual([await living(pids), await host.find(terminal.id)], [[], undefined])
    await terminal.close()
  })

  behaviour('after a restart of the server, an old id does not find a new pane', async (place) => {
    const { host, cwd } = place
    const before = await host.open(commands.echo, { cwd })
    tmux(place, 'kill-server')
    await before.exited
    const after = await host.open(commands.echo, { cwd })
    assert.equal(tmux(place, 'list-panes', '-a', '-F', '#{pane_id}'), '%0\n')
    assert.deepEqual([await host.find(before.id), (await host.find(after.id))?.id], [undefined, after.id])
    await after.close()
  })

  behaviour('a pane whose shell was killed reports the signal, as far as tmux knows it', async (place) => {
    const terminal = await place.host.open('echo ready; sleep 60', { cwd: place.cwd })
    await drawn(terminal, 'ready')
    process.kill(Number(tmux(place, 'list-panes', '-a', '-F', '#{pane_pid}')), 'SIGKILL')
    assert.ok([undefined, 9].includes((await terminal.exited).signal))
    await terminal.close()
  })

  behaviour(
    'a terminal that another process is opening is left alone, one that never started is removed',
    async (place) => {
      const id = crypto.randomUUID()
      const files = new TerminalFiles(place.terminals, id)
      files.make({ run: 'true', keep: 'true' })
      files.keepPlace({ server: ['-L', place.socket], mode: 'window' })
      assert.deepEqual([await place.host.find(id), existsSync(files.run)], [undefined, true])
      const longAgo = new Date(Date.now() - 3_600_000)
      utimesSync(files.run, longAgo, longAgo)
      assert.deepEqual([await place.host.find(id), existsSync(files.folder)], [undefined, false])
    },
  )

  behaviour('an unreachable server ends no process', async (place) => {
    const { cwd, env, terminals, socket } = place
    const terminal = await place.host.open(commands.echo, { cwd })
    await drawn(terminal, 'ready')
    const blind = tmuxHost({ folder: terminals, env, clock: realClock, socket, program: '/no/such/tmux' })
    await assert.rejects(blind.find(terminal.id), /tmux could not be run/)
    await terminal.write('still here\r')
    await drawn(terminal, 'got: still here')
    await terminal.close()
  })

  behaviour('copy mode is left before anything is typed', async (place) => {
    const terminal = await place.host.open(commands.echo, { cwd: place.cwd })
    await drawn(terminal, 'ready')
    for (const type of [() => terminal.write('a'), () => terminal.paste('b'), () => terminal.press('Enter')]) {
      tmux(place, 'copy-mode', '-t', 'termaite:')
      await type()
    }
    await drawn(terminal, 'got: ab')
    await terminal.close()
  })

  behaviour('a title is shown as plain text, and the bell rings', async (place) => {
    const { host, cwd, folder } = place
    const evil = join(folder, 'evil')
    const [first, second] = [await host.open(commands.echo, { cwd }), await host.open(commands.echo, { cwd })]
    await drawn(second, 'ready')
    await second.retitle(`2 #(touch ${evil}) #[fg=red] #S 100% é;`, true)
    const windows = () => tmux(place, 'list-windows', '-t', 'termaite', '-F', '#{window_bell_flag} #W').split('\n')
    await first.retitle('-1 gemini idle')
    await until(async () => windows()[1]!.startsWith('1'))
    assert.deepEqual(windows().slice(0, 2), ['0 -1 gemini idle', `1 2 (touch ${evil}) [fg=red] #S 100% é;`])
    tmux(place, 'display-message', '-p', '-t', 'termaite:1', '#W #{E:window_name}')
    assert.equal(existsSync(evil), false)
    await first.close()
    await second.close()
  })

  behaviour('a person’s key is noticed, keys from a command are not', async (place) => {
    const { host, cwd, env } = place
    const terminal = await host.open(commands.echo, { cwd })
    await drawn(terminal, 'ready')
    const person = pty.spawn('/bin/sh', ['-c', `exec ${terminal.attach}`], { name: 'xterm-256color', cwd, env })
    try {
      await new Promise<void>((resolve) => person.onData((text) => text.includes('ready') && resolve()))
      tmux(place, 'send-keys', '-t', 'termaite:', 'x')
      await terminal.write('y')
      assert.equal(await terminal.touched(), 0)
      // tmux counts in whole seconds: a key in the second they came in is not told from their coming.
      await until(async () => {
        person.write('z')
        return (await terminal.touched()) > 0
      })
      await drawn(terminal, 'ready')
    } finally {
      person.kill()
    }
    await terminal.close()
  })

  behaviour('inside tmux, windows and panes open in the person’s own session', async (place) => {
    const { cwd, env, terminals } = place
    tmux(place, '-f', '/dev/null', 'new-session', '-d', '-s', 'mine', '-x', '120', '-y', '40', 'cat')
    const [socket, pane] = tmux(place, 'display-message', '-p', '-t', 'mine:', '#{socket_path},#{pid},0 #{pane_id}')
      .trim()
      .split(' ')
    const inside = { ...env, TMUX: socket!, TMUX_PANE: pane!, MINE: 'of the person' }
    const host = tmuxHost({ folder: terminals, env: inside, clock: realClock, socket: 'not-used' })
    const window = await host.open('echo "$MINE" "${TMUX_PANE}"; read _', { cwd, title: '1 claude busy' })
    const first = await host.open(commands.echo, { cwd, mode: 'pane', title: '2 gemini busy' })
    const second = await host.open(commands.echo, { cwd, mode: 'pane' })
    await Promise.all([drawn(window, 'person'), drawn(first, 'ready'), drawn(second, 'ready')])
    assert.deepEqual(filled(await window.screen()), ['of the person %1'])
    const panes = tmux(
      place,
      'list-panes',
      '-s',
      '-t',
      'mine',
      '-F',
      '#{window_index} #{pane_id} #{pane_width} #{pane_title}',
    )
    assert.deepEqual(
      panes
        .trim()
        .split('\n')
        .map((line) => line.split(' ').slice(0, 3).join(' ')),
      ['0 %0 60', '0 %2 59', '0 %3 59', '1 %1 120'],
    )
    assert.match(panes, /%2 59 2 gemini busy/)
    assert.equal(window.attach, `tmux -S ${socket!.split(',')[0]} switch-client -t '%1'`)
    // From outside tmux the terminal is found in the person's own server.
    assert.equal((await place.host.find(first.id))?.id, first.id)
    for (const terminal of [window, first, second]) await terminal.close()
    assert.equal(tmux(place, 'list-panes', '-a', '-F', '#{pane_id}'), '%0\n')
    await host.close()
  })

  behaviour(
    'the kept output of a pane is bounded, and positions go on',
    async ({ host, cwd, running: run, terminals }) => {
      const terminal = await host.open(run('flood 20000000'), { cwd })
      // The process that keeps the output may still be at work when the program has ended: the test reads to its end.
      for await (const _ of terminal.output()) continue
      const read = { first: -1, end: 0, bytes: 0 }
      for await (const { at, bytes } of terminal.output()) {
        if (read.first < 0) read.first = at
        read.bytes += bytes.length
        read.end = at + bytes.length
      }
      assert.ok(read.first > 0 && read.bytes <= 3 * 4 * 1024 ** 2, JSON.stringify(read))
      assert.equal(read.end, read.first + read.bytes)
      await terminal.close()
      assert.equal(existsSync(join(terminals, terminal.id)), false)
    },
  )
})
