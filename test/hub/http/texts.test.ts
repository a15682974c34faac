import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { HandClock } from '../../hand-clock.ts'
import { longestText } from '../../../src/hub/model/tasks/task-try.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { until } from '../../until.ts'
import { hubAt, keptDiff } from '../engine/seat.ts'
import { servedHub } from './hub-house.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const person = { id: 'own', name: 'user', role: 'admin' } as const

/** A hub over a file, with a task that the agent `orc` has. */
async function serving(t: TestContext, folder = mkdtempSync(join(tmpdir(), 'termaite-texts-'))) {
  // A disk that is nearly full refuses texts before it is full; these tests are about one that is.
  const ledger = fileHubLedger(join(folder, 'hub.db'), { free: () => undefined })
  const clock = new HandClock()
  const { hub, register, wait, add, close } = hubAt(t, ledger, clock)
  const { at, keys } = await servedHub({ hub, ledger, clock })
  t.after(async () => {
    await at.close()
    await close()
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await register('orc')
  const { id } = await add('x')
  await wait('orc')
  const bearer = async (name: string) => ({ authorization: `Bearer ${(await keys.lend(name, person)).secret}` })
  const orc = await bearer('orc')
  const texts = join(folder, 'hub.db-texts')
  const kept = () => (existsSync(texts) ? readdirSync(texts) : [])
  const upload = (body: string, headers = orc) =>
    fetch(`${at.url}/api/tasks/${id}/texts`, { method: 'POST', headers, body })
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${at.url}${path}`, { headers: { authorization: 'Bearer the-key', ...headers } })
  return { hub, keys, id, url: at.url, orc, bearer, upload, get, kept }
}

const diff = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,40000 @@\n${'+<b>a line</b>\n'.repeat(40_000)}`

test('a diff is sent in pieces and served in pieces, as plain text, compressed where that is asked for', async (t) => {
  const { hub, id, upload, get, kept } = await serving(t)
  const sent = (await (await upload(diff)).json()) as { id: string; bytes: number }
  const whole = keptDiff(diff, 1, 40_000)
  assert.deepEqual([sent, kept()], [{ id: whole.id, bytes: whole.bytes }, [whole.id]])
  await hub.work.respond(id, 'orc', { status: 'IN_REVIEW', message: 'look', diff: { id: sent.id } })
  assert.deepEqual((await hub.task(id)).tries![0]!.diff, whole)
  assert.equal(JSON.stringify(await hub.tasks()).includes('a line'), false)
  const path = `/api/tasks/${id}/tries/1/diff`
  const plain = await get(path, { 'accept-encoding': 'identity' })
  const names = ['content-type', 'x-content-type-options', 'cache-control', 'content-encoding', 'content-length']
  assert.deepEqual(
    names.map((name) => plain.headers.get(name)),
    ['text/plain; charset=utf-8', 'nosniff', 'no-store', null, String(whole.bytes)],
  )
  assert.equal(await plain.text(), diff)
  const zipped = await new Promise<Buffer>((resolve, reject) => {
    const headers = { authorization: 'Bearer the-key', 'accept-encoding': 'gzip' }
    request(`${plain.url}`, { headers }, (response) => {
      const chunks: Buffer[] = []
      assert.equal(response.headers['content-encoding'], 'gzip')
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)))
    })
      .on('error', reject)
      .end()
  })
  assert.deepEqual([gunzipSync(zipped).toString() === diff, zipped.length < whole.bytes / 10], [true, true])
  for (const wrong of ['/tries/2/diff', '/tries/x/diff', '/tries/1/checks/1/output'])
    assert.equal((await get(`/api/tasks/${id}${wrong}`)).status, 404, wrong)
})

test('only the agent that has the task sends texts, and a text that is too long is refused in words', async (t) => {
  const { id, keys, upload, bearer, kept, url, orc } = await serving(t)
  const other = await upload('x', await bearer('elf'))
  assert.equal(other.status, 409)
  assert.match(((await other.json()) as { error: string }).error, /^Agent elf does not have task /)
  const { secret } = await keys.add('anna', 'member', person)
  assert.equal((await upload('x', { authorization: `Bearer ${secret}` })).status, 403)
  const sending = request(`${url}/api/tasks/${id}/texts`, { method: 'POST', headers: orc })
  const block = Buffer.alloc(1024 * 1024, 'x')
  const answer = once(sending, 'response')
  for (let bytes = 0; bytes <= longestText; bytes += block.length)
    if (!sending.write(block)) await Promise.race([once(sending, 'drain'), answer])
  const [response] = (await answer) as [import('node:http').IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  sending.on('error', () => {})
  sending.destroy()
  golden(t, [response.statusCode, JSON.parse(Buffer.concat(chunks).toString())])
  assert.deepEqual(kept(), [])
})

test('an upload that is torn leaves nothing, and two uploads at once of one text are one', async (t) => {
  const { id, upload, kept, url, orc } = await serving(t)
  const torn = request(`${url}/api/tasks/${id}/texts`, {
    method: 'POST',
    headers: { ...orc, 'content-length': '999999' },
  })
  torn.on('error', () => {})
  torn.write(Buffer.alloc(100_000, 'y'))
  await until(() => kept().some((name) => name.startsWith('part,')))
  torn.destroy()
  await until(() => kept().length === 0)
  const both = await Promise.all([upload(diff), upload(diff), upload(`${diff}+`)])
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.deepEqual(kept().toSorted(), [keptDiff(diff).id, keptDiff(`${diff}+`).id].toSorted())
})

test('a full disk refuses a text with its reason, and the hub goes on', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-full-'))
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk]).status !== 0) {
    rmSync(folder, { recursive: true })
    return t.skip('a small disk cannot be mounted here')
  }
  t.after(() => {
    spawnSync('umount', ['-l', disk])
    rmSync(folder, { recursive: true, force: true })
  })
  const { hub, id, upload, kept } = await serving(t, disk)
  const full = await upload('z'.repeat(4 * 1024 * 1024))
  assert.equal(full.status, 507)
  assert.match(((await full.json()) as { error: string }).error, /the disk is full/)
  assert.deepEqual(kept(), [])
  assert.equal((await upload('small')).status, 200)
  assert.equal((await hub.work.progress(id, 'orc', 'still here')).state, 'IN_PROGRESS')
})
