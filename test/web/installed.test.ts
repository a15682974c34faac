import type { Browser, BrowserContext, Page } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PageFiles } from '../../src/page/page-files.ts'
import { until } from '../until.ts'
import { packageFolder } from '../cli/program.ts'
import { noBrowser, PageMachine, shows, startBrowser } from './browser.ts'

const options = { timeout: 60_000 }
const built = join(packageFolder, 'dist', 'page')

/** Serves the files of a page, which can be replaced by those of another version, at one address. */
async function servedPage(t: { after(work: () => unknown): void }) {
  let files = new PageFiles(built)
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((request, response) => {
    if (files.answer(request, response)) return
    response.writeHead(request.url?.startsWith('/api/') ? 401 : 404, { 'content-type': 'application/json' })
    response.end('{"error":"no"}')
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.after(() => server.listening && stop())
  return { url: `http://127.0.0.1:${port}`, stop, show: (next: PageFiles) => (files = next) }
}

/** The page as another version of termaite would bring it: other words, another name of its script, another worker. */
function nextVersion(t: { after(work: () => unknown): void }): PageFiles {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-page-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(built, folder, { recursive: true })
  const edit = (name: string, change: (text: string) => string) =>
    writeFileSync(join(folder, name), change(readFileSync(join(folder, name), 'utf8')))
  const script = /page-[0-9a-f]{12}\.js/.exec(readFileSync(join(folder, 'index.html'), 'utf8'))![0]
  cpSync(join(folder, script), join(folder, 'page-feedfeed2222.js'))
  rmSync(join(folder, script))
  const { version } = new PageFiles(built)
  edit('index.html', (text) => text.replace(script, 'page-feedfeed2222.js').replace(version, 'newversion22'))
  edit('page-feedfeed2222.js', (text) => text.replaceAll('To sign in, run', 'Second version: to sign in, run'))
  edit('service-worker.js', (text) =>
    text.replaceAll(script, 'page-feedfeed2222.js').replaceAll(version, 'newversion22'),
  )
  return new PageFiles(folder)
}

const keptFiles = (page: Page) =>
  page.evaluate(async () => {
    const names = await caches.keys()
    const kept = await Promise.all(
      names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)),
    )
    return kept.flat().sort()
  })

const activated = (page: Page) => page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state)

describe('the installed page', { skip: noBrowser }, () => {
  let browser: Browser
  let context: BrowserContext
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test(
    'the installed page opens without its hub and says so, keeps its sign-in, and keeps no data',
    options,
    async (t) => {
      const at = new PageMachine(t)
      await at.serve()
      const { page, outside, faults } = await at.open(browser, { installs: true })
      await shows(page, 'user · admin')
      await activated(page)
      const kept = await until(async () => {
        const files = await keptFiles(page)
        return files.length >= 3 && files
      })
      assert.ok(
        kept.every((path) => path === '/' || /^\/(?:page|style)-[0-9a-f]{12}\.(?:js|css)$/.test(path)),
        kept.join(),
      )
      await at.killHub()
      await page.reload()
      await shows(page, 'The hub cannot be reached. Trying again')
      await at.serve()
      await shows(page, 'user · admin')
      assert.deepEqual(await keptFiles(page), kept, 'nothing of the API is kept')
      assert.deepEqual([outside, faults], [[], []])
      const manifest = JSON.parse(readFileSync(join(built, 'manifest.webmanifest'), 'utf8'))
      const session = await page.context().newCDPSession(page)
      const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
      // A window without a profile is private, and a private window installs nothing.
      const errors = installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')
      assert.deepEqual([manifest.id, errors], ['/', []])
    },
  )

  test(
    'a new version is shown at once, with and without the hub, and nothing of the old one stays',
    options,
    async (t) => {
      const at = await servedPage(t)
      context = await browser.newContext()
      t.after(() => context.close())
      const page = await context.newPage()
      await page.goto(at.url)
      await shows(page, 'To sign in, run')
      await activated(page)
      const before = await until(async () => (await keptFiles(page)).length >= 3 && keptFiles(page))
      at.show(nextVersion(t))
      await page.reload()
      await shows(page, 'Second version: to sign in')
      await until(async () => (await keptFiles(page)).includes('/page-feedfeed2222.js'))
      const after = await until(async () => {
        const files = await keptFiles(page)
        return files.filter((path) => path.startsWith('/page-')).length === 1 && files
      })
      assert.deepEqual(after, before.map((path) => (path.startsWith('/page-') ? '/page-feedfeed2222.js' : path)).sort())
      await at.stop()
      await page.reload()
      await shows(page, 'The hub cannot be reached')
      assert.deepEqual(await page.evaluate(() => [...document.scripts].map(({ src }) => new URL(src).pathname)), [
        '/page-feedfeed2222.js',
      ])
    },
  )

  test('a page that was open while termaite was updated loads itself anew, once', options, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const { page } = await at.open(browser, { installs: true })
    await shows(page, 'user · admin')
    let loads = 0
    page.on('load', () => loads++)
    await page.route('**/api/events*', async (route) => {
      const headers = { 'content-type': 'text/event-stream', 'x-termaite-version': 'another' }
      await route.fulfill({ status: 200, headers, body: ': hello\n\n' })
    })
    await at.killHub()
    await at.serve()
    await shows(page, 'termaite was updated.')
    await page.getByRole('button', { name: 'Load the new page' }).waitFor()
    assert.equal(loads, 1)
  })

  test(
    'one window announces new items for the person, a click leads there, and an answer elsewhere takes the notice back',
    options,
    async (t) => {
      const at = new PageMachine(t)
      await at.serve()
      const claude = await at.agent('claude-1')
      const { page } = await at.open(browser, { installs: true })
      const { person } = at
      context = page.context()
      await shows(page, 'user · admin')
      await page.getByRole('button', { name: 'Notify me' }).waitFor()
      assert.equal(await page.evaluate(() => Notification.permission), 'default', 'nothing is asked for at load')
      await context.grantPermissions(['notifications'], { origin: at.url })
      // A browser without a screen takes every window for the one in use.
      await context.addInitScript('document.hasFocus = () => false')
      const second = await context.newPage()
      for (const each of [page, second]) {
        await each.goto(at.url)
        await each.reload()
        await shows(each, 'user · admin')
      }
      await activated(page)
      const shown = () =>
        page.evaluate(async () =>
          ((await (await navigator.serviceWorker.getRegistration())?.getNotifications()) ?? []).map(
            ({ title, body, data }) => [title, body, (data as { view: string }).view],
          ),
        )
      assert.deepEqual(await shown(), [])
      const asked = { text: 'Use the password hunter2?', options: [{ id: 'yes', label: 'Yes' }] }
      await claude.ask('claude-1', { id: 'q1', ...asked })
      assert.deepEqual(await until(async () => (await shown()).length > 0 && shown()), [
        ['claude-1 asks', 'termaite', '#/agents/claude-1'],
      ])
      const [worker] = context.serviceWorkers()
      await worker!.evaluate(`registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent('notificationclick', { notification })))`)
      await until(() => [page, second].some((each) => each.url().endsWith('#/agents/claude-1')))
      await claude.ask('claude-1', { id: 'q2', ...asked })
      await until(async () => (await shown()).length === 1)
      await person.answerAgent('claude-1', ['yes'])
      await until(async () => (await shown()).length === 0)
    },
  )

  test('a worker whose page is gone leaves, and deletes the files that it kept', options, async (t) => {
    const at = await servedPage(t)
    context = await browser.newContext()
    t.after(() => context.close())
    const page = await context.newPage()
    await page.goto(at.url)
    await activated(page)
    await until(async () => (await keptFiles(page)).length >= 3)
    const folder = mkdtempSync(join(tmpdir(), 'termaite-other-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>other</title>Another program')
    at.show(new PageFiles(folder))
    await page.reload()
    await shows(page, 'Another program')
    await until(
      async () => (await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)) === 0,
    )
    assert.deepEqual(await keptFiles(page), [])
  })
})
