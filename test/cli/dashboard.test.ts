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
