import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Machine } from './program.ts'

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
    assert.deepEqual([state.status, await state.json()], [200, { seq: 0, agents: [], tasks: [], marks: [] }])
    assert.equal((await enter()).status, 401)
    assert.doesNotMatch(said, /#in=/, 'no link is written where no terminal is')

    const shared = await machine.run(['dashboard', '--read-only', '--hours', '8'])
    assert.match(shared.err, /^The link can be shared\. It only reads, and it ends .*\.\n$/)
    assert.deepEqual(
      [
        (await machine.run(['dashboard', '--hours', '8'])).err,
        (await machine.run(['dashboard', '--read-only', '--hours', 'x'])).err,
        (await machine.run(['dashboard', '--read-only', '--hours', '721'])).code,
      ],
      [
        'termaite: --hours is for a link to share: add --read-only, or --session <id> for one session.\n',
        'termaite: --hours: found "x", allowed: a number above 0, as in 8.\n',
        1,
      ],
    )
    serving.kill('SIGTERM')
    await once(serving, 'exit')
  },
)

test(
  'conversations are read, searched and counted on the page, and a guest reads its one session',
  options,
  async (t) => {
    const machine = new Machine(t)
    machine.settings({ agents: [{ name: 'amber', command: 'cat >/dev/null; echo fine', contextWindowTokens: 9_000 }] })
    await machine.run(['-p', 'Fix the basket'])
    const serving = machine.start(['serve', '--port', '0'])
    t.after(() => serving.kill('SIGKILL'))
    const [line] = (await once(serving.stdout!, 'data')) as [Buffer]
    const url = String(line).trim()
    /** Signs a browser in by a link of `termaite dashboard`; returns its way to ask the hub. */
    const browser = async (...args: string[]) => {
      const { out, err } = await machine.run(['dashboard', ...args])
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
    const [, read] = await ask(`/api/sessions/${id}/messages`)
    const brief = read.messages.map(({ role, by, text }: Record<string, string>) => [role, by, text!.trim()])
    assert.deepEqual(
      [brief, read.all],
      [
        [
          ['user', 'user', 'Fix the basket'],
          ['assistant', 'amber', 'fine'],
        ],
        2,
      ],
    )
    assert.deepEqual((await ask(`/api/sessions/${id}/messages?after=1`))[1].messages.length, 1)
    assert.deepEqual((await ask(`/api/sessions/${id}/messages?after=x`))[0], 400)
    assert.deepEqual(await ask('/api/sessions/none/messages'), [404, { error: 'There is no session none.' }])
    assert.deepEqual((await ask('/api/search?q=basket'))[1].length, 1)
    assert.deepEqual((await ask('/api/usage?by=agent'))[1][0].key, 'amber')
    assert.equal((await ask('/api/usage?by=moon'))[0], 400)

    const guest = await browser('--session', id)
    assert.deepEqual((await guest(`/api/sessions/${id}/messages`))[1].all, 2)
    assert.deepEqual(await guest('/api/sessions/other/messages'), [403, { error: 'This link shows another session.' }])
    const observer = await browser('--read-only')
    for (const see of [guest, observer])
      for (const path of ['/api/sessions', '/api/search?q=basket', '/api/usage'])
        assert.equal((await see(path))[0], 403, path)
    assert.equal((await observer(`/api/sessions/${id}/messages`))[0], 403)
    serving.kill('SIGTERM')
    await once(serving, 'exit')
  },
)
