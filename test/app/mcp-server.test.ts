import type { TestContext } from 'node:test'
import type { Io } from '../../src/core/io.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { messageOf } from '../../src/base/error-message.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openCrews } from '../../src/crew/machine/crews.ts'
import { openMcpTools } from '../../src/app/mcp-server.ts'
import { placeOf } from '../../src/home/place.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Two projects of one person, each a git repository, and an agent in a terminal. */
function projects(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-served-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  for (const path of ['home', 'mine/.git', 'mine/below', 'other/.git'])
    mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(
    join(home, 'settings.json'),
    JSON.stringify({ agents: [{ name: 'cat', kind: 'screen', command: 'cat', contextWindowTokens: 1000 }] }),
  )
  const io = (cwd: string, more: Record<string, string> = {}): Io => ({
    env: { PATH: process.env.PATH, HOME: folder, TERMAITE_HOME: home, TERMAITE_KEYCHAIN: 'off', ...more },
    ...{ cwd: join(folder, cwd), piped: false, clock: realClock, signal: new AbortController().signal },
    ...{ in: new PassThrough(), out: new PassThrough(), err: new PassThrough() },
  })
  return { folder, home, io, within: { TERMAITE_WITHIN: join(folder, 'mine') } }
}

test('a walled agent reads the conversations of its own project’s crew alone', async (t) => {
  const { home, io, within } = projects(t)
  const uris: string[] = []
  for (const project of ['mine', 'other']) {
    const place = placeOf(io(project))
    const settings = await readSettings({ home, project: place.root }, { env: io(project).env })
    const crews = openCrews(io(project), place, settings, { carries: false })
    const { crew } = crews.of()
    await crew.spawn({ agent: 'cat', cwd: place.cwd, leash: 'read' })
    await crew.kill(1)
    uris.push(`termaite://crew/${crew.workspace}/1/log`)
    await crews.close()
  }
  const log = { media: 'application/x-ndjson', text: '' }
  for (const [more, seen] of [
    [{}, [log, log]],
    [within, [log, undefined]],
  ] as const) {
    const person = io('mine', more)
    await using open = await openMcpTools(person, placeOf(person))
    assert.deepEqual(await Promise.all(uris.map((uri) => open.served.resources.read(uri))), seen)
  }
})

test('what a walled agent starts is not served in a folder that became a link out of its project', (t) => {
  const { folder, io, within } = projects(t)
  const below = join(folder, 'mine/below')
  const mine = join(folder, 'mine')
  assert.deepEqual(placeOf(io('mine/below', within)), { home: join(folder, 'home'), cwd: below, root: mine })
  rmSync(below, { recursive: true })
  symlinkSync('../other', below)
  assert.equal(placeOf(io('mine/below')).cwd, join(folder, 'other'))
  let refused: unknown
  try {
    placeOf(io('mine/below', within))
  } catch (error) {
    refused = messageOf(error)
  }
  golden(t, refused, { [folder]: '<folder>' })
})
