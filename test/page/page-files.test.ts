import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { listenHttp } from '../../src/wire/http/http-server.ts'
import { PageFiles } from '../../src/page/page-files.ts'

const script = `export const words = '${'x'.repeat(500)}'\n`

async function serving(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-page-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'page'))
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(folder, 'page', 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'page', 'page.js'), script)
  writeFileSync(join(folder, 'page', 'part-abcdef012345.js'), script)
  const files = new PageFiles(join(folder, 'page'))
  const at = await listenHttp(
    (asked, response) => {
      if (files.answer(asked, response)) return
      response.writeHead(404)
      response.end()
    },
    { host: '127.0.0.1', port: 0 },
  )
  t.after(() => at.close())
  const { port } = new URL(at.url)
  /** Sends the path as it is: a URL would take the dots out of it. */
  return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
      sent.on('error', reject)
      sent.end()
    })
}

test('a page is served with headers that let it load nothing from elsewhere and be framed by nobody', async (t) => {
  const get = await serving(t)
  const { status, headers, body } = await get('/?from=phone')
  assert.deepEqual(
    [status, body.toString(), headers['content-type']],
    [200, '<!doctype html>', 'text/html; charset=utf-8'],
  )
  assert.deepEqual(
    [headers['content-security-policy'], headers['x-content-type-options'], headers['referrer-policy']],
    [
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types termaite-worker",
      'nosniff',
      'no-referrer',
    ],
  )
  assert.equal(headers['cache-control'], 'no-cache')
})

test('a browser reads a file once: it asks with its tag, and a name with a hash is kept for ever', async (t) => {
  const get = await serving(t)
  const { headers, body } = await get('/page.js', { 'accept-encoding': 'gzip, br' })
  assert.deepEqual([headers['content-encoding'], brotliDecompressSync(body).toString()], ['br', script])
  assert.equal((await get('/page.js')).body.toString(), script)
  const again = await get('/page.js', { 'if-none-match': String(headers.etag) })
  assert.deepEqual([again.status, again.body.length], [304, 0])
  assert.equal((await get('/part-abcdef012345.js')).headers['cache-control'], 'public, max-age=31536000, immutable')
  const head = await get('/page.js', {}, 'HEAD')
  assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, String(script.length), 0])
})

test('only the files of the page are served', async (t) => {
  const get = await serving(t)
  for (const path of ['/../secret.txt', '/%2e%2e/secret.txt', '//etc/passwd', '/page', '/nothing.js', '/__proto__'])
    assert.equal((await get(path)).status, 404, path)
  assert.equal((await get('/', {}, 'POST')).status, 404)
})

test('a folder that is missing has no files', async () => {
  assert.equal(new PageFiles('/nowhere').answer({ method: 'GET', url: '/' } as never, {} as never), false)
})
