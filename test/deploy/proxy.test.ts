import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { IncomingMessage } from 'node:http'
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { startedHub } from '../cli/hub.ts'
import { Machine } from '../cli/program.ts'
import { authority, withoutOpenssl } from '../hub/http/certificates.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

const caddyfile = join(import.meta.dirname, '..', '..', 'deploy', 'Caddyfile')

const hasCaddy = spawnSync('caddy', ['version'], { stdio: 'ignore' }).status === 0
const skip = hasCaddy ? withoutOpenssl : 'caddy is not installed'

test(
  'behind the Caddy of deploy/: work, streams and hang-ups pass, and nobody lies about an address',
  { skip },
  async (t) => {
    const tls = authority(t)
    const port = await freePort()
    const machine = new Machine(t)
    const address = `https://127.0.0.1:${port}`
    const { url, key } = await startedHub(t, machine, '0', ['--behind-proxy', '127.0.0.1', '--public-url', address])
    await startedCaddy(t, machine, { port, hubs: [new URL(url).host], tls: tls.issue('IP:127.0.0.1') })
    writeFileSync(join(machine.folder, 'ca.pem'), tls.ca)
    const env = { SSL_CERT_FILE: join(machine.folder, 'ca.pem') }
    const person = new HubClient({ url: address, key, env })
    await until(() =>
      person.me().then(
        () => true,
        () => false,
      ),
    )
    const agent = new HubClient({ url: address, key: (await person.lend('build-7')).secret, env })
    await agent.register({ id: 'build-7', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })

    // The stream tells of a change while it is open, not when it ends.
    const stop = new AbortController()
    const changes = person.changes(0, stop.signal)
    assert.equal((await changes.next()).value!.type, 'agent')

    const hangUp = new AbortController()
    const waiting = agent.wait('build-7', 60, hangUp.signal)
    await until(async () => (await person.agent('build-7')).waits)
    hangUp.abort()
    await assert.rejects(waiting)
    await until(async () => !(await person.agent('build-7')).waits)

    const next = agent.wait('build-7', 60, stop.signal)
    const { id } = await person.add({ prompt: 'do it', workspace: 'w' })
    const given = await next
    assert.ok(given.type === 'task' && given.task.id === id)
    const done = await agent.respond(given.ticket, 'build-7', { status: 'COMPLETED', message: 'done' })
    assert.equal(done.state, 'COMPLETED')

    // Every wrong key comes from another address, as its client says; the hub counts them where the proxy saw them.
    const refusals: number[] = []
    for (let number = 0; number < 12; number++) {
      const headers = {
        authorization: `Bearer wrong-key-number-${number}-xxxxxxxx`,
        'x-forwarded-for': `192.0.2.${number}`,
      }
      refusals.push(await statusOf(`${address}/api/me`, headers, tls.ca))
    }
    assert.deepEqual(refusals.slice(-2), [429, 429])
    assert.equal((await person.me()).role, 'admin')
    stop.abort()
  },
)

/** Runs Caddy with the file of deploy/, but at a port and with a certificate of the test, and without a place of its own. */
async function startedCaddy(
  t: TestContext,
  machine: Machine,
  { port, hubs, tls }: { port: number; hubs: readonly string[]; tls: { cert: string; key: string } },
): Promise<void> {
  const named = { ...process.env, HUB_HOST: '127.0.0.1', HUBS: hubs.join(' ') }
  const adapted = spawnSync('caddy', ['adapt', '--config', caddyfile, '--adapter', 'caddyfile'], { env: named })
  assert.equal(adapted.status, 0, String(adapted.stderr))
  const config = JSON.parse(String(adapted.stdout)) as {
    admin: object
    storage: object
    apps: { http: { servers: { srv0: { listen: string[]; automatic_https?: object } } }; tls?: object }
  }
  config.admin = { disabled: true }
  config.storage = { module: 'file_system', root: join(machine.folder, 'caddy') }
  config.apps.http.servers.srv0.listen = [`127.0.0.1:${port}`]
  config.apps.http.servers.srv0.automatic_https = { disable: true }
  Object.assign(config.apps.http.servers.srv0, { tls_connection_policies: [{}] })
  config.apps.tls = { certificates: { load_files: [{ certificate: tls.cert, key: tls.key }] } }
  const file = join(machine.folder, 'caddy.json')
  writeFileSync(file, JSON.stringify(config))
  const child = machine.own(spawn('caddy', ['run', '--config', file], { stdio: ['ignore', 'ignore', 'pipe'] }))
  child.stderr.resume()
  t.after(() => child.kill('SIGKILL'))
}

async function statusOf(url: string, headers: Record<string, string>, ca: string): Promise<number> {
  const asked = request(url, { headers, ca, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode!
}
