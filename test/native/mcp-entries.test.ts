import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { carryOut, planInstall, planRemoval, wiredClients } from '../../src/native/mcp/mcp-entries.ts'
import { clients } from '../../src/native/mcp/clients.ts'
import { readConfig, refuseUnwritable } from '../../src/native/mcp-config/config-file.ts'
import { ownStart } from '../../src/native/mcp/own-start.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const start = { command: 'termaite', args: ['mcp', 'serve'] }

/** A home of its own, and one client in it. */
function homeOf(context: TestContext, name = 'gemini') {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-mcp-')))
  context.after(() => rmSync(home, { recursive: true, force: true }))
  const where = { home, env: {}, platform: 'linux' as const }
  const client = clients.find((one) => one.name === name)!
  const path = client.file(where)
  mkdirSync(join(path, '..'), { recursive: true })
  const read = () => readConfig(path, home)
  return {
    home,
    path,
    where,
    client,
    read,
    install: () => carryOut(planInstall(client, read(), start)!),
    remove: () => carryOut(planRemoval(client, read())!),
  }
}

test('every client can be wired, is found wired, and is as it was after', (context) => {
  for (const { name, format } of clients) {
    const { path, where, client, read, install, remove } = homeOf(context, name)
    for (const before of [undefined, '', format.find === clients[0]!.format.find ? '{"x": [1,  2]}' : 'x = [1,  2]']) {
      if (before !== undefined) writeFileSync(path, before, { mode: 0o640 })
      install()
      assert.deepEqual(format.find(readFileSync(path, 'utf8'), client.path), client.entry(start), name)
      assert.deepEqual(
        wiredClients(where).map((wired) => wired.client.name),
        [name],
      )
      assert.equal(planInstall(client, read(), start), undefined, 'once is enough')
      assert.equal(existsSync(`${path}.termaite.bak`), before !== undefined)
      if (before !== undefined) assert.equal(statSync(path).mode & 0o777, 0o640)
      remove()
      assert.equal(existsSync(path) ? readFileSync(path, 'utf8') : undefined, before, name)
      assert.equal(planRemoval(client, read()), undefined)
      assert.deepEqual(
        readdirSync(join(path, '..')).filter((file) => file.includes('termaite')),
        [],
      )
    }
  }
})

test('an entry that another program changed since stays changed', (context) => {
  const { path, install, remove } = homeOf(context)
  writeFileSync(path, '{\n  "a": 1\n}\n')
  install()
  writeFileSync(path, readFileSync(path, 'utf8').replace('"a": 1', '"a": 2'))
  remove()
  assert.equal(readFileSync(path, 'utf8'), '{\n  "a": 2\n}\n')
  assert.equal(existsSync(`${path}.termaite.bak`), false)
})

test('a changed entry is written anew, and the copy is still the first one', (context) => {
  const { path, client, read, install, remove } = homeOf(context)
  writeFileSync(path, '{}\n')
  install()
  carryOut(planInstall(client, read(), { ...start, command: 'elsewhere' })!)
  assert.equal(readFileSync(`${path}.termaite.bak`, 'utf8'), '{}\n')
  remove()
  assert.equal(readFileSync(path, 'utf8'), '{}\n')
})

test('an entry that a person wrote is taken out too, and not brought back from the copy', (context) => {
  const { path, install, remove } = homeOf(context)
  writeFileSync(path, '{"mcpServers": {"termaite": {"command": "mine"}, "x": 1}}')
  install()
  remove()
  assert.equal(readFileSync(path, 'utf8'), '{"mcpServers": {"x": 1}}')
})

test('a file that is written between the question and the answer is not overwritten', (context) => {
  const { path, client, read } = homeOf(context)
  const change = planInstall(client, read(), start)!
  writeFileSync(path, '{"new": true}')
  golden.throws(context, () => carryOut(change))
  assert.equal(readFileSync(path, 'utf8'), '{"new": true}')
})

test('a link inside the home is followed and stays a link; one that leads out of it is refused', (context) => {
  const { home, path, read, install } = homeOf(context)
  mkdirSync(join(home, 'dotfiles'))
  writeFileSync(join(home, 'dotfiles', 'settings.json'), '{}')
  symlinkSync(join(home, 'dotfiles', 'settings.json'), path)
  install()
  assert.equal(realpathSync(path), join(home, 'dotfiles', 'settings.json'))
  assert.match(readFileSync(path, 'utf8'), /termaite/)
  const elsewhere = homeOf(context).path
  writeFileSync(elsewhere, '{}')
  rmSync(path)
  symlinkSync(elsewhere, path)
  assert.throws(read, { message: `is a link to ${elsewhere}, outside of your home; edit it there` })
  rmSync(path)
  symlinkSync(join(home, 'gone'), path)
  golden.throws(context, read)
})

test('a file that is read-only, no text, no file, or of a program that never ran is refused', (context) => {
  const { home, path, read } = homeOf(context)
  writeFileSync(path, '{}')
  chmodSync(path, 0o444)
  assert.throws(() => refuseUnwritable(read()), { message: /^is read-only/ })
  rmSync(path)
  writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]))
  assert.throws(read, { message: 'is not text (UTF-8)' })
  rmSync(path)
  mkdirSync(path)
  assert.throws(read, { message: 'is not a file' })
  assert.throws(() => readConfig(join(home, 'nowhere', 'x.json'), home), { message: /Start the program once/ })
})

test('we are started by our name where a shell finds us, else by whole paths', (context) => {
  const { home, client } = homeOf(context)
  const [bin, file] = [join(home, 'bin'), join(home, 'termaite.cjs')]
  mkdirSync(bin)
  writeFileSync(file, '')
  const program = ['/node', file] as const
  const whole = { command: '/node', args: [file, 'mcp', 'serve'] }
  assert.deepEqual(ownStart(client, program, bin), whole)
  symlinkSync(file, join(bin, 'termaite'))
  assert.deepEqual(ownStart(client, program, `/nowhere:${bin}`), start)
  assert.deepEqual(ownStart({ ...client, desktop: true }, program, bin), whole)
  // The single-file build has no file beside its executable.
  assert.deepEqual(ownStart(client, [file], bin), start)
  assert.deepEqual(ownStart(client, [file]), { command: file, args: ['mcp', 'serve'] })
})
