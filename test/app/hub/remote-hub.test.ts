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
import { hubPlace } from '../../../src/app/hub/hub-address.ts'
import { HubClient } from '../../../src/app/hub/hub-client.ts'
import { HubUntrusted } from '../../../src/hub/remote-hub.ts'
import { authorityIn, folderFor, machineIo } from '../../machines-rig.ts'

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
  const trust =
    'Give this machine the certificate of the authority, as a PEM file: --ca <file>, or the variable NODE_EXTRA_CA_CERTS. Nothing was sent to it.'
  assert.equal(
    await failure(url),
    `the server at https://localhost cannot be trusted: it does not send the certificates between its own and the authority, or this machine does not know the authority. Let the server send its whole chain. ${trust}`,
  )
  assert.equal(
    await failure(`https://127.0.0.1:${port}`),
    'the server at https://127.0.0.1 cannot be trusted: it does not speak TLS at this port. Check the port, or use http:// on the machine of the hub itself. Nothing was sent to it.',
  )
  // A client that names the authority reaches the hub. It runs in a process of its own, because trust is the whole process's.
  const script = `
    import { HubClient } from ${JSON.stringify(join(import.meta.dirname, '../../../src/app/hub/hub-client.ts'))}
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
  assert.match(
    await reach(await tlsProxy(t, elsewhere, port), {}, elsewhere.ca),
    /its certificate is for other names than localhost\. Use one of those names in the address/,
  )
  const over = authorityIn(folderFor(t), 'DNS:localhost', '-1')
  assert.match(
    await reach(await tlsProxy(t, over, port), {}, over.ca),
    /its certificate has expired\. Renew it on the server\./,
  )
})

test('a key comes from the variable, or from a file that nobody else can read', (t) => {
  const folder = folderFor(t)
  const file = join(folder, 'build-7.key')
  const io = machineIo(join(folder, 'home'), folder, { TERMAITE_HUB_KEY_FILE: file })
  const url = 'https://hub.example'
  const key = () => hubPlace(io, {}, url).key
  assert.throws(
    key,
    /there is no key file .*build-7\.key\. Make a key with termaite hub keys add <name> --role agent, and write it there\./,
  )
  writeFileSync(file, `${'s'.repeat(40)}\n`, { mode: 0o644 })
  assert.throws(key, /other users can read the key file .*\. Take that away first: chmod 600 /)
  chmodSync(file, 0o600)
  assert.equal(key(), 's'.repeat(40))
  io.env.TERMAITE_HUB_KEY = 'v'.repeat(40)
  assert.equal(key(), 'v'.repeat(40))
  delete io.env.TERMAITE_HUB_KEY
  writeFileSync(file, 'not a key\n')
  assert.throws(key, /holds no key of a hub/)
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
  await assert.rejects(hub.pipelines(), { message: `${url} leads to ${other}. Use that as the address of the hub.` })
  location = '/login?to=hub'
  await assert.rejects(hub.pipelines(), {
    message: `${url} leads to /login?to=hub, as a proxy does that wants a person to sign in. The hub must be reached without that: let the proxy pass requests with a key.`,
  })
  assert.equal(reached, 0)
})
