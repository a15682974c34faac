import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { authority, withoutOpenssl } from '../hub/http/certificates.ts'
import { send } from '../hub/http/hub-house.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

test(
  'termaite dashboard prints a link that signs one browser in at the page of the running hub',
  options,
  async (t) => {
    const machine = new Machine(t)
    const serving = machine.start(['serve', '--port', '0'])
    t.after(() => serving.kill('SIGKILL'))
    let said = ''
    serving.stderr!.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
    const url = String(line).trim()
    const made = await machine.run(['dashboard'])
    const [, secret] = new RegExp(`^${url}/#in=(tmk_[\\w-]{43})\\n$`).exec(made.out) ?? assert.fail(made.out + made.err)
    assert.match(made.err, /^The link signs one browser in, until \d\d:\d\d\.\n$/)

    const page = await fetch(url)
    assert.equal(page.status, 200)
    const html = await page.text()
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      assert.equal((await fetch(url + path)).status, 200, `${path} is a file of the page`)

    const enter = () =>
      fetch(`${url}/api/sign-in`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json' },
        body: JSON.stringify({ link: secret }),
      })
    const entered = await enter()
    const { page: pageSecret } = (await entered.json()) as { page: string }
    const headers = { cookie: entered.headers.get('set-cookie')!.split(';')[0]!, 'x-termaite-page': pageSecret }
    const state = await fetch(`${url}/api/state`, { headers })
    const { epoch, ...rest } = (await state.json()) as { epoch: string }
    assert.deepEqual(
      [state.status, rest],
      [200, { seq: 0, place: `${epoch}.0`, agents: [], tasks: [], marks: [], days: [], pipelines: [], rules: [] }],
    )
    assert.equal((await enter()).status, 401)
    assert.doesNotMatch(said, /#in=/, 'no link is written where no terminal is')

    const shared = await machine.run(['dashboard', '--read-only', '--hours', '8'])
    assert.match(shared.err, /^The link can be shared\. It only allows reading, and it expires .*\.\n$/)
    golden(t, [
      (await machine.run(['dashboard', '--hours', '8'])).err,
      (await machine.run(['dashboard', '--read-only', '--hours', 'x'])).err,
      (await machine.run(['dashboard', '--read-only', '--hours', '721'])).code,
    ])
    serving.kill('SIGTERM')
    await once(serving, 'exit')
  },
)

test('a hub behind a proxy makes links with its public address, and a wrong address is refused', options, async (t) => {
  const machine = new Machine(t)
  const serving = machine.start(['serve', '--port', '0', '--public-url', 'https://Hub.example:8443/'])
  t.after(() => serving.kill('SIGKILL'))
  const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
  const { out } = await machine.call(['dashboard', '--no-qr'])
  const [, secret] = /^https:\/\/hub\.example:8443\/#in=(\S+)\n$/.exec(out) ?? assert.fail(out)
  const url = new URL(String(line).trim())
  const entered = await fetch(url.origin + '/api/sign-in', {
    method: 'POST',
    headers: { origin: 'https://hub.example:8443', 'content-type': 'application/json' },
    body: JSON.stringify({ link: secret }),
  })
  assert.equal(entered.status, 403, 'a proxy that hides the name that the browser asked for lets nobody in')
  serving.kill('SIGTERM')
  await once(serving, 'exit')
  const wrong = [
    'http://hub.example',
    'hub.example',
    'https://hub.example/termaite',
    'https://a:b@hub.example',
    'https://x/?y',
  ]
  for (const address of wrong) {
    const { code, err } = await machine.call(['serve', '--port', '0', '--public-url', address])
    golden(t, [code, err])
  }
})

test(
  'conversations are read, searched and counted on the page, and a guest reads its one session',
  options,
  async (t) => {
    const machine = new Machine(t)
    machine.settings({ agents: [{ name: 'amber', command: 'cat >/dev/null; echo fine', contextWindowTokens: 9_000 }] })
    await machine.call(['-p', 'Fix the basket'])
    const serving = machine.start(['serve', '--port', '0'])
    t.after(() => serving.kill('SIGKILL'))
    const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
    const url = String(line).trim()
    /** Signs a browser in by a link of `termaite dashboard`; returns its way to ask the hub. */
    const browser = async (...args: string[]) => {
      const { out, err } = await machine.call(['dashboard', ...args])
      const secret = /#in=(\S+)/.exec(out)?.[1] ?? assert.fail(err)
      const entered = await fetch(`${url}/api/sign-in`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json' },
        body: JSON.stringify({ link: secret }),
      })
      const { page } = (await entered.json()) as { page: string }
      const headers = { cookie: entered.headers.get('set-cookie')!.split(';')[0]!, 'x-termaite-page': page }
      return async (path: string) => {
        const response = await fetch(url + path, { headers })
        return [response.status, await response.json()] as const
      }
    }
    const ask = await browser()
    const [, sessions] = await ask('/api/sessions')
    assert.deepEqual(
      sessions.map(({ project, title, turns }: Record<string, unknown>) => [project, title, turns]),
      [[machine.project, 'Fix the basket', 1]],
    )
    const { id } = sessions[0] as { id: string }
    const [, projects] = await ask('/api/projects')
    assert.deepEqual(
      projects.map(({ project, agents, words }: Record<string, unknown>) => [project, agents, words]),
      [[machine.project, ['amber'], { by: 'amber', text: 'fine' }]],
    )
    const [, read] = await ask(`/api/sessions/${id}/entries`)
    const brief = read.entries.map(({ entry }: Record<string, Record<string, string>>) => [entry!.type, entry!.by])
    assert.deepEqual(
      [brief, read.title, read.project, read.older, read.newer],
      [
        [
          ['prompt', 'user'],
          ['reply', 'amber'],
          ['usage', 'amber'],
          ['end', 'rotation'],
        ],
        'Fix the basket',
        machine.project,
        false,
        false,
      ],
    )
    const [first, second] = read.entries as { at: number; entry: { id: string } }[]
    const [, behind] = await ask(`/api/sessions/${id}/entries?after=${first!.at}`)
    const [, around] = await ask(`/api/sessions/${id}/entries?around=${second!.entry.id}`)
    assert.deepEqual([behind.entries, around.entries], [read.entries.slice(1), read.entries])
    assert.deepEqual((await ask(`/api/sessions/${id}/entries?after=x`))[0], 400)
    assert.deepEqual(await ask('/api/sessions/none/entries'), [404, { error: 'There is no session none.' }])
    assert.deepEqual((await ask('/api/search?q=basket'))[1].length, 1)
    const [, { rows, away }] = await ask('/api/usage?by=agent')
    const [amber] = rows as Record<string, unknown>[]
    assert.deepEqual(
      [rows.length, amber!.key, amber!.turns, amber!.failures, amber!.parkedMs, away],
      [1, 'amber', 1, 0, 0, []],
    )
    const [, tomorrow] = await ask(`/api/usage?by=day&since=${Date.now() + 86_400_000}&zone=Asia/Tokyo`)
    assert.deepEqual(tomorrow, { rows: [], away: [] })
    golden(t, await ask('/api/usage?by=day&zone=Moon'))
    assert.equal((await ask('/api/usage?by=moon'))[0], 400)

    const guest = await browser('--session', id)
    assert.deepEqual((await guest(`/api/sessions/${id}/entries`))[1], { ...read, project: '' })
    for (const path of ['/api/sessions/other/entries', '/api/sessions/other/live']) golden(t, await guest(path))
    const observer = await browser('--read-only')
    for (const see of [guest, observer])
      for (const path of ['/api/sessions', '/api/projects', '/api/search?q=basket', '/api/usage'])
        assert.equal((await see(path))[0], 403, path)
    for (const path of ['entries', 'live']) assert.equal((await observer(`/api/sessions/${id}/${path}`))[0], 403, path)
    serving.kill('SIGTERM')
    await once(serving, 'exit')
  },
)

test(
  'a hub with a certificate prints its https address, links have it, and commands of its machine need no certificate',
  { ...options, skip: withoutOpenssl },
  async (t) => {
    const { issue, ca } = authority(t)
    const { cert, key } = issue('DNS:hub.example,IP:127.0.0.1')
    const machine = new Machine(t)
    const tls = ['--tls-cert', cert, '--tls-key', key]
    chmodSync(key, 0o644)
    const open = await machine.call(['serve', '--port', '0', ...tls])
    golden(t, [open.code, open.err], { [key]: '<key>' })
    chmodSync(key, 0o600)
    const serving = machine.start(['serve', '--host', '0.0.0.0', '--port', '0', ...tls])
    t.after(() => serving.kill('SIGKILL'))
    const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
    const [, url = '', port] = /^(https:\/\/hub\.example:(\d+))\n$/.exec(String(line)) ?? assert.fail(String(line))
    const added = await machine.call(['hub', 'keys', 'add', 'anna', '--role', 'member'])
    assert.equal(added.code, 0, added.err)
    const { out } = await machine.call(['dashboard', '--no-qr'])
    assert.match(out, new RegExp(`^${url}/#in=tmk_`))
    const asked = { ca, servername: 'hub.example' }
    const me = await send(`https://127.0.0.1:${port}/api/me`, {
      ...asked,
      headers: { host: `hub.example:${port}`, authorization: `Bearer ${added.out.trim()}` },
    })
    assert.deepEqual([me.status, me.body.name], [200, 'anna'])
    assert.equal((await send(`https://127.0.0.1:${port}/readyz`, asked)).text, 'The hub is ready.\n')
    serving.kill('SIGTERM')
    await once(serving, 'exit')
  },
)
