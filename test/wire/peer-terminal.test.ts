import type { TestContext } from 'node:test'
import type { Terminal, TerminalHost } from '../../src/core/screen/terminal.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { RunningTurns } from '../../src/core/turns/running-turns.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { connectPeer } from '../../src/wire/peer/peer-client.ts'
import { servePeer } from '../../src/wire/peer/peer-server.ts'
import { terminalContract } from '../contract/terminal.ts'
import { scripted } from '../terminals/programs.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A host whose terminals are met over a socket, as another process meets them. */
function hostOverSocket(inner: TerminalHost, t: TestContext): TerminalHost {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  const turns = new RunningTurns()
  turns.lend((id) => inner.find(id))
  const served = servePeer(turns, home, realClock)
  const peer = served.then(async (door) => (await connectPeer(door!.path, realClock))!)
  t.after(async () => {
    await (await peer).close()
    await (await served)!.close()
    rmSync(home, { recursive: true })
  })
  return {
    outlives: false,
    open: async (command, opening) => (await (await peer).terminal((await inner.open(command, opening)).id))!,
    find: async (id) => (await peer).terminal(id),
    close: () => inner.close(),
  }
}

terminalContract('a terminal of another process', (t) => ({
  host: hostOverSocket(scripted.host(), t),
  cwd: '/somewhere/project',
  commands: scripted.commands,
}))

test('a paste that is longer than a frame is one paste, and a history that is longer is cut at its old end', async (t) => {
  const pasted: string[] = []
  const inner = scriptedTerminals(() => async (tty) => {
    tty.print(Array.from({ length: 20_000 }, (_, i) => `${i}${'x'.repeat(60)}`).join('\n'))
    pasted.push((await tty.read())!)
    tty.print('taken')
    return 0
  })
  const terminal = await hostOverSocket(inner, t).open('any', { cwd: '/' })
  const text = '1é😀'.repeat(500_000)
  await terminal.paste(text)
  await terminal.exited
  assert.equal(pasted[0] === `\u001b[200~${text}\u001b[201~`, true)
  const rows = await terminal.history(20_000)
  assert.ok(rows.length > 5_000 && rows.length < 20_000)
  assert.equal(rows.at(-1), `19999${'x'.repeat(60)}taken`)
})

test('a terminal whose process is gone rejects, and its streams end', async (t) => {
  const inner = scripted.host()
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  const turns = new RunningTurns()
  turns.lend((id) => inner.find(id))
  const served = (await servePeer(turns, home, realClock))!
  const peer = (await connectPeer(served.path, realClock))!
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const { id } = await inner.open('echo', { cwd: '/' })
  const terminal = (await peer.terminal(id))!
  const { exited } = terminal
  const seen: string[] = []
  const reading = (async () => {
    for await (const { bytes } of terminal.output()) {
      seen.push(new TextDecoder().decode(bytes))
      await peer.close()
    }
  })()
  await reading
  assert.deepEqual(seen, ['ready\n'])
  assert.deepEqual(await exited, {})
  await golden.rejects(t, terminal.screen())
  await terminal.close()
  await inner.close()
  await served.close()
})

test('a terminal whose output breaks ends its streams, and harms nothing else', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  const turns = new RunningTurns()
  const gone = () => Promise.reject(new Error('the terminal server is gone'))
  const inner = scripted.host()
  turns.lend(async (id) => {
    const terminal = (await inner.find(id))!
    const output = () => ({ [Symbol.asyncIterator]: () => ({ next: gone }) })
    return Object.create(terminal, { output: { value: output }, exited: { get: gone } }) as Terminal
  })
  const served = (await servePeer(turns, home, realClock))!
  const peer = (await connectPeer(served.path, realClock))!
  t.after(async () => {
    await peer.close()
    await served.close()
    rmSync(home, { recursive: true, force: true })
  })
  const terminal = (await peer.terminal((await inner.open('echo', { cwd: '/' })).id))!
  for await (const _drawn of terminal.output()) assert.fail('nothing was drawn')
  assert.deepEqual(await terminal.exited, {})
  assert.deepEqual(await peer.turns(), [])
})
