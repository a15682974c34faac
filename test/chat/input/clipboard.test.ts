import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../../src/base/time/clock.ts'
import { HandClock } from '../../hand-clock.ts'
import { readClipboard } from '../../../src/chat/input/clipboard.ts'
import { turning } from '../../base/alive.ts'
import { png } from '../../picture-bodies.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A machine with these clipboard programs, each a shell script; `pic.png` is beside them. */
function machine(t: TestContext, programs: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-clipboard-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'pic.png'), png(3, 2))
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nPATH=/usr/bin:/bin\ncd ${folder}\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return (env: Record<string, string>, platform = 'linux', clock = realClock) =>
    readClipboard({ env: { PATH: folder, ...env }, clock, platform })
}

const wayland = { WAYLAND_DISPLAY: 'wayland-0' }
const x11 = { DISPLAY: ':0' }

const wlPaste = (types: string) =>
  `case "$1" in --list-types) printf '%s\\n' ${types};; *) case "$3" in image/*) cat pic.png;; *) printf 'the text\\n';; esac;; esac`
const xclip = (types: string) =>
  `case "$5" in TARGETS) printf '%s\\n' ${types};; image/*) cat pic.png;; *) printf 'the text';; esac`

test('a picture is read before the text, by the program of the display', async (t) => {
  const read = machine(t, {
    'wl-paste': wlPaste('text/plain image/png'),
    xclip: xclip('TARGETS UTF8_STRING'),
  })
  assert.deepEqual(await read(wayland), { picture: png(3, 2) })
  assert.deepEqual(await read(x11), { text: 'the text' })
  golden(t, await read({}))
})

test('on a Mac by pngpaste, or by the system itself', async (t) => {
  const hex = png(3, 2).toString('hex').toUpperCase()
  const own = machine(t, { osascript: `printf '«data PNGf${hex}»\\n'` })
  assert.deepEqual(await own({}, 'darwin'), { picture: png(3, 2) })
  const brew = machine(t, { pngpaste: 'cat pic.png' })
  assert.deepEqual(await brew({}, 'darwin'), { picture: png(3, 2) })
  const text = machine(t, { osascript: 'exit 1', pbpaste: `printf 'the text'` })
  assert.deepEqual(await text({}, 'darwin'), { text: 'the text' })
})

test('in Windows’ Linux by PowerShell', async (t) => {
  const read = machine(t, { 'powershell.exe': 'case "$5" in Add-Type*) base64 pic.png;; esac' })
  assert.deepEqual(await read({ WSL_DISTRO_NAME: 'Debian' }), { picture: png(3, 2) })
})

test('a program that is missing is named, and that a path works too', async (t) => {
  const read = machine(t, {})
  golden(t, await read(wayland))
  golden(t, await read(x11))
  golden(t, await read({ WSL_DISTRO_NAME: 'Debian' }))
})

test('an empty clipboard, a program that hangs and one that never stops printing end', async (t) => {
  assert.deepEqual(await machine(t, { xclip: 'exit 1' })(x11), { why: 'The clipboard is empty.' })
  const clock = new HandClock()
  const hung = machine(t, { xclip: 'sleep 1000 & sleep 1000' })(x11, 'linux', clock)
  golden(t, await turning(clock, hung))
  const endless = machine(t, { xclip: 'case "$5" in TARGETS) echo image/png;; *) cat /dev/zero;; esac' })
  golden(t, await endless(x11))
})
