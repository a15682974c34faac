import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createServer as createPlainServer, request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { hubPlace } from '../../../src/hub/client/hub-address.ts'
import { HubClient } from '../../../src/hub/client/hub-client.ts'
import { HubUntrusted } from '../../../src/hub/engine/remote-hub.ts'
import { authorityIn, folderFor, machineIo } from '../../machines-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A server with TLS in front of a port of this machine, as the proxy of an operator is. */
async function tlsProxy(t: TestContext, tls: { cert: Buffer; key: Buffer }, port: number): Promise<string> {
  const server = createServer(tls, (from, to) => {
    const on = request(
      { port, host: '127.0.0.1', method: from.method, path: from.url, headers: from.headers },
      (answer) => {
        to.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(to)
      },
    )
    on.on('error', () => to.destroy())
    from.pipe(on)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

/** A hub in all but its routes: it tells who the caller is. */
async function plainHub(t: TestContext): Promise<number> {
  const { createServer: create } = await import('node:http')
  const server = create((asked, answer) => {
    const known = asked.headers.authorization === `Bearer ${'k'.repeat(30)}`
    answer.writeHead(known ? 200 : 401, { 'content-type': 'application/json' })
    answer.end(JSON.stringify(known ? { id: 'key-1', name: 'build-7', role: 'agent' } : { error: 'no' }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('a certificate is checked: its fault is reported with the next step, and no key is sent before', async (t) => {
  const folder = folderFor(t)
  const port = await plainHub(t)
  const own = authorityIn(folder)
  const url = await tlsProxy(t, own, port)
  const failure = async (at: string) => {
    const error: unknown = await new HubClient({ url: at, key: 'k'.repeat(30) }).me().catch((fault: unknown) => fault)
    assert.ok(error instanceof HubUntrusted, String(error))
    return error.message.replaceAll(/:\d{4,5}/g, '')
  }
  golden(t, await failure(url))
  golden(t, await failure(`https://127.0.0.1:${port}`))
  // A client that names the authority reaches the hub. It runs in a process of its own, because trust is the whole process's.
  const script = `
    import { HubClient } from ${JSON.stringify(join(import.meta.dirname, '../../../src/hub/client/hub-client.ts'))}
    const [url, key, file] = process.argv.slice(1)
    const hub = new HubClient({ url, key, env: file ? { TERMAITE_HUB_CA: file } : {} })
    console.log(await hub.me().then(({ name }) => name, (error) => error.message))`
  const reach = async (at: string, env: Record<string, string>, file = '') => {
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '-e',
      script,
      at,
      'k'.repeat(30),
      file,
    ]
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    await once(child, 'close')
    return said.trim().replaceAll(/:\d{4,5}/g, '')
  }
  assert.equal(await reach(url, {}, own.ca), 'build-7')
  assert.equal(await reach(url, { NODE_EXTRA_CA_CERTS: own.ca }), 'build-7')
  const elsewhere = authorityIn(folderFor(t), 'DNS:other.example')
  golden(t, await reach(await tlsProxy(t, elsewhere, port), {}, elsewhere.ca))
  const over = authorityIn(folderFor(t), 'DNS:localhost', '-1')
  golden(t, await reach(await tlsProxy(t, over, port), {}, over.ca))
})

test('a key comes from the variable, or from a file that nobody else can read', (t) => {
  const folder = folderFor(t)
  const file = join(folder, 'build-7.key')
  const io = machineIo(join(folder, 'home'), folder, { TERMAITE_HUB_KEY_FILE: file })
  const url = 'https://hub.example'
  const key = () => hubPlace(io, {}, url).key
  golden.throws(t, key, { [folder]: '<folder>' })
  writeFileSync(file, `${'s'.repeat(40)}\n`, { mode: 0o644 })
  golden.throws(t, key, { [folder]: '<folder>' })
  chmodSync(file, 0o600)
  assert.equal(key(), 's'.repeat(40))
  io.env.TERMAITE_HUB_KEY = 'v'.repeat(40)
  assert.equal(key(), 'v'.repeat(40))
  delete io.env.TERMAITE_HUB_KEY
  writeFileSync(file, 'not a key\n')
  golden.throws(t, key, { [folder]: '<folder>' })
})

test('a server that sends its callers elsewhere is named with the right address, and no key goes there', async (t) => {
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1')
    t.after(() => (server.close(), server.closeAllConnections()))
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  let reached = 0
  const other = await listen(createPlainServer((_, response) => response.end(`${++reached}`)))
  let location = `${other}/api/pipelines`
  const url = await listen(createPlainServer((_, response) => response.writeHead(302, { location }).end('moved')))
  const hub = new HubClient({ url, key: 'made-up' })
  await golden.rejects(t, hub.pipelines(), { [url]: '<url>', [other]: '<other>' })
  location = '/login?to=hub'
  await golden.rejects(t, hub.pipelines(), { [url]: '<url>' })
  assert.equal(reached, 0)
})
