import type { Browser } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { PageMachine, noBrowser, shows, startBrowser } from './browser.ts'

const options = { timeout: 60_000 }

/** A page of an agent's own server on another port of this machine: everything that it may try against the hub. */
const attack = (hub: string) => `<!doctype html><title>dev server</title>
<iframe name="target"></iframe>
<form id="form" method="post" enctype="text/plain" action="${hub}/api/tasks" target="target">
  <input name='{"prompt":"by form","workspace":"/w","x":"' value='"}'></form>
<script>
  const hub = ${JSON.stringify(hub)}
  const tried = (name, work) => work.then((value) => [name, value], (error) => [name, 'refused'])
  const body = JSON.stringify({ prompt: 'by fetch', workspace: '/w' })
  const event = (thing, good, bad) => new Promise((resolve, reject) => { thing[good] = () => resolve('IN'); thing[bad] = reject })
  const image = new Image()
  const script = document.createElement('script')
  const results = [
    tried('read', fetch(hub + '/api/state', { credentials: 'include' }).then((r) => r.text())),
    tried('blind read', fetch(hub + '/api/state', { credentials: 'include', mode: 'no-cors' }).then((r) => r.type + r.status)),
    tried('write', fetch(hub + '/api/tasks', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body }).then((r) => r.status)),
    tried('blind write', fetch(hub + '/api/tasks', { method: 'POST', credentials: 'include', mode: 'no-cors', body }).then((r) => r.type + r.status)),
    tried('header', fetch(hub + '/api/state', { credentials: 'include', headers: { 'x-termaite-page': 'guess' } }).then((r) => r.status)),
    tried('stream', event(new EventSource(hub + '/api/events', { withCredentials: true }), 'onopen', 'onerror')),
    tried('socket', event(new WebSocket(hub.replace('http', 'ws') + '/api/terminals'), 'onopen', 'onerror')),
    tried('image', event(image, 'onload', 'onerror')),
    tried('script', event(script, 'onload', 'onerror')),
  ]
  image.src = hub + '/icon.svg'
  script.src = hub + '/service-worker.js'
  document.body.append(script)
  document.getElementById('form').submit()
  Promise.all(results).then((all) => { window.results = Object.fromEntries(all) })
</script>`

describe('the door, as a page on another port sees it', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test('a page of another server on this machine has the cookie sent along, and gets nothing', options, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const { page } = await at.open(browser)
    await shows(page, 'user · admin')
    const cookies: string[] = []
    const evil = createServer((request, response) => {
      cookies.push(request.headers.cookie ?? '')
      response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/' ? attack(at.url) : '')
    })
    evil.listen(0, '127.0.0.1')
    t.after(() => evil.close())
    await once(evil, 'listening')
    const { port } = evil.address() as { port: number }
    const other = await page.context().newPage()
    await other.goto(`http://127.0.0.1:${port}/`)
    await other.waitForFunction('window.results')
    assert.match(
      cookies.join(),
      /termaite-\d+=tmk_/,
      'cookies ignore ports: this is why the cookie alone opens nothing',
    )
    assert.deepEqual(await other.evaluate('window.results'), {
      read: 'refused',
      'blind read': 'refused',
      write: 'refused',
      'blind write': 'refused',
      header: 'refused',
      stream: 'refused',
      socket: 'refused',
      image: 'refused',
      script: 'refused',
    })
    // Neither in a frame nor in a window that it opened does it see the page or its storage.
    const framed = await other.evaluate(`new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.onload = () => { try { resolve(frame.contentDocument?.title ?? 'closed') } catch { resolve('closed') } }
      frame.src = ${JSON.stringify(at.url)}
      document.body.append(frame)
    })`)
    const opened = await other.evaluate(`new Promise((resolve) => {
      const child = open(${JSON.stringify(`${at.url}/#/inbox`)})
      setTimeout(() => { try { resolve(child.closed || child.localStorage.length) } catch { resolve('closed') } }, 500)
    })`)
    assert.deepEqual([framed, opened === true || opened === 'closed'], ['closed', true])
    assert.equal(await other.evaluate('localStorage.length'), 0)
    // The link of a stranger that is followed to the page is a visit like any other: nothing acts, and no secret travels.
    await other.goto(`http://127.0.0.1:${port}/x`)
    await other.evaluate(`location.href = ${JSON.stringify(`${at.url}/#/tasks`)}`)
    await shows(other, 'user · admin')
    assert.equal(await other.evaluate('document.referrer.includes("in=")'), false)
    const { tasks } = await at.person.state()
    assert.deepEqual(tasks, [])
  })

  test(
    'the secret of a link is in no address, history, referrer or storage afterwards, and a second browser is told',
    options,
    async (t) => {
      const at = new PageMachine(t)
      await at.serve()
      const { out } = await at.machine.run(['dashboard'])
      const secret = /#in=(\S+)/.exec(out)![1]!
      const context = await browser.newContext()
      t.after(() => context.close())
      const page = await context.newPage()
      const sent: string[] = []
      page.on('request', (request) => sent.push(request.url(), JSON.stringify(request.headers())))
      await page.goto(out.trim())
      await shows(page, 'user · admin')
      await page.goto('about:blank')
      await page.goBack()
      const seen = await page.evaluate(
        'location.href + document.referrer + JSON.stringify({ ...localStorage, ...sessionStorage })',
      )
      assert.ok(![String(seen), ...sent].some((each) => each.includes(secret)))
      const second = await (await browser.newContext()).newPage()
      t.after(() => second.context().close())
      await second.goto(out.trim())
      await shows(second, 'This link was used already, or it has expired.')
      await shows(second, 'To sign in, run termaite dashboard')
    },
  )
})
