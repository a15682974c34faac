import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pty from '@lydell/node-pty'
import headless from '@xterm/headless'
import { DetachKeys } from '../../src/wire/attach/attach-keys.ts'
import { restoreSequence } from '../../src/wire/attach/attach-terminal.ts'
import { OutputFilter } from '../../src/wire/attach/output-filter.ts'
import { running } from '../terminals/real.ts'

const latin = (text: string) => Buffer.from(text, 'latin1')

test('the key that detaches is found in every notation, and not in a paste', () => {
  const key = new DetachKeys()
  assert.deepEqual(key.push('ls\r'), { typed: 'ls\r', leaves: false })
  assert.deepEqual(key.push('a\u001d'), { typed: 'a', leaves: true })
  assert.deepEqual(key.push('\u001b[93;5u'), { typed: '', leaves: true })
  assert.deepEqual(key.push('b\u001b[27;5;93~c'), { typed: 'b', leaves: true })
  assert.deepEqual(key.push('\u001b[200~x\u001dy'), { typed: '\u001b[200~x\u001dy', leaves: false })
  assert.deepEqual(key.push('z\u001b[201~w\u001d'), { typed: 'z\u001b[201~w', leaves: true })
})

test('questions to the terminal are filtered out, drawing is shown', () => {
  const asks = [
    '\u001b[c',
    '\u001b[>0c',
    '\u001b[6n',
    '\u001b[?6n',
    '\u001b[?2026$p',
    '\u001b[18t',
    '\u001b[>q',
    '\u001b[?u',
  ]
  const more = ['\u001b]11;?\u0007', '\u001b]4;1;?\u001b\\', '\u001bP+q544e\u001b\\', '\u001b[3J', '\u0005']
  const draws = [
    '\u001b[31m',
    '\u001b[2J',
    '\u001b[?2004h',
    '\u001b]2;a title\u0007',
    '\u001b]8;;http://x\u001b\\',
    '\u001b[22;0t',
    '\u001b7',
    '\u001b(B',
    'é漢',
  ]
  const text = Buffer.from([...asks, ...more].map((ask, i) => `${ask}${draws[i % draws.length]}`).join(''))
  const wanted = Buffer.from([...asks, ...more].map((_ask, i) => draws[i % draws.length]).join('')).toString()
  assert.equal(Buffer.from(new OutputFilter().push(text).bytes).toString(), wanted)
  // However it is cut.
  const shown = new OutputFilter()
  const pieces = Array.from(text, (byte) => shown.push(Uint8Array.of(byte)).bytes)
  assert.equal(Buffer.concat(pieces).toString(), wanted)
})

test('the alternate screen and a reset need a new picture', () => {
  for (const text of ['a\u001b[?1049hb', '\u001b[?25;1049l', '\u001b[?47h', '\u001bc'])
    assert.deepEqual(new OutputFilter().push(latin(text)), { bytes: Buffer.from(''), repaint: true })
  assert.equal(new OutputFilter().push(latin('\u001b[?25l')).repaint, false)
})

/** A person at a terminal of their own. */
function person(t: TestContext, command: string, ...lost: string[]) {
  const home = mkdtempSync(join(tmpdir(), 'termaite-attach-'))
  const emulator = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true })
  const shell = pty.spawn(process.execPath, [join(import.meta.dirname, 'attach-person.ts'), command, ...lost], {
    name: 'xterm-256color',
    cols: 80,
    rows: 24,
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, SHELL: '/bin/bash', LANG: 'C.UTF-8' },
  })
  const answers: string[] = []
  emulator.onData((text) => (answers.push(text), shell.write(text)))
  let raw = ''
  let look = () => {}
  shell.onData((text) => {
    raw += text
    emulator.write(text, () => look())
  })
  const exited = new Promise<number>((resolve) =>
    shell.onExit(({ exitCode }) => emulator.write('', () => resolve(exitCode))),
  )
  t.after(async () => {
    shell.kill('SIGKILL')
    await exited
    rmSync(home, { recursive: true, force: true })
  })
  const rows = () =>
    Array.from({ length: emulator.rows }, (_, row) => emulator.buffer.active.getLine(row)!.translateToString(true))
  const sees = async (text: string) => {
    while (!rows().some((row) => row.includes(text))) await new Promise<void>((resolve) => (look = resolve))
    return rows().filter(Boolean)
  }
  return { shell, emulator, rows, sees, exited, answers, raw: () => raw }
}

describe('a person attaches', { concurrency: true }, () => {
  test('an attached person sees the whole screen, types into it, and gets their own screen back when they leave', async (t) => {
    const { shell, sees, exited, emulator, rows } = person(t, running('echo'))
    await sees('ready')
    await sees('2 claude busy · Ctrl+] leaves it running')
    assert.equal(emulator.buffer.active.type, 'alternate')
    shell.write('hello\r')
    await sees('got: hello')
    assert.deepEqual(rows().filter(Boolean), ['ready', 'got: hello'])
    shell.resize(60, 20)
    emulator.resize(60, 20)
    shell.write('again\r')
    await sees('got: again')
    shell.write('\u001d')
    assert.equal(await exited, 0)
    assert.equal(emulator.buffer.active.type, 'normal')
    assert.deepEqual(rows().filter(Boolean), ['what was there before', 'left: detached 60x20 touched true'])
    assert.deepEqual([emulator.modes.bracketedPasteMode, emulator.modes.mouseTrackingMode], [false, 'none'])
  })

  test('a program that asks is answered once, and a full-screen one comes and goes', async (t) => {
    // Without its echo from the start: the answer may come before the shell reads it.
    const asks = String.raw`stty -echo; printf '\033[6n'; read -rsdR where; printf 'at %s\n' "${'${where#*[}'}"; read -rs _; printf '\033[?1049h\033[2J\033[HFULL'; read -rs _; printf '\033[?1049lnormal again'; read -rs _; exit 4`
    const { shell, sees, exited, answers } = person(t, asks)
    await sees('at 1;1')
    shell.write('\r')
    assert.deepEqual(await sees('FULL'), ['FULL'])
    shell.write('\r')
    assert.deepEqual((await sees('normal again'))[0], 'at 1;1')
    shell.write('\r')
    assert.equal(await exited, 0)
    assert.deepEqual(answers, [])
  })

  test('output that a slow terminal missed is on the screen as soon as more comes', async (t) => {
    const { shell, sees, exited } = person(t, running('echo'), 'got: unseen')
    await sees('ready')
    // The first key takes away the hint, and the whole screen is drawn for that.
    shell.write('first\r')
    await sees('got: first')
    shell.write('unseen\rlast\r')
    assert.deepEqual(await sees('got: last'), ['ready', 'got: first', 'got: unseen', 'got: last'])
    shell.write('\u001d')
    assert.equal(await exited, 0)
  })

  test('the screen is given back when termaite is stopped, and when it crashes', async (t) => {
    const told = person(t, running('echo'))
    await told.sees('ready')
    told.shell.kill('SIGTERM')
    assert.equal(await told.exited, 0)
    assert.match(told.rows().join('\n'), /what was there before\nleft: ended 80x24 touched false/)
    const crashed = person(t, running('echo'))
    await crashed.sees('ready')
    crashed.shell.kill('SIGUSR2')
    assert.equal(await crashed.exited, 9)
    assert.ok(crashed.raw().endsWith(restoreSequence))
    assert.deepEqual(crashed.rows().filter(Boolean), ['what was there before'])
  })
})
