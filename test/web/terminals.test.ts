import type { TestContext } from 'node:test'
import type { Browser, Page, WebSocketRoute } from 'playwright-core'
import type { PageFrame } from '../../src/page/terminal-frames.ts'
import type { Terminal } from '../../src/core/screen/terminal.ts'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { terminalsOf } from '../../src/crew/machine/crew-terminals.ts'
import { slotNameAtHub } from '../../src/crew/machine/supervised-session.ts'
import { realClock as clock } from '../../src/base/time/clock.ts'
import { SlotLedger } from '../../src/crew/slot-ledger.ts'
import { drawnBytes } from '../../src/page/terminal-frames.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { drawn } from '../contract/terminal.ts'
import { noTmux, running } from '../terminals/real.ts'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser } from './browser.ts'

const options = { timeout: 60_000 }
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The text that a terminal of the page shows. */
const screenOf = (page: Page) => page.locator('.xterm-rows').innerText()

const screenShows = (page: Page, words: string) => until(async () => (await screenOf(page)).includes(words))

/** Clicks where a terminal shows some words; the elements of the words themselves take no clicks. */
async function clickOn(page: Page, words: string): Promise<void> {
  const place = await until(async () => (await page.locator('.xterm-rows').getByText(words).boundingBox()) ?? undefined)
  const { x, y } = place
  await page.mouse.move(x + 2, y + 2)
  await page.mouse.move(x + 8, y + 5)
  await page.mouse.click(x + 8, y + 5)
}

/** A hub whose machine has an agent of a crew in tmux. */
async function crewInTmux(t: TestContext): Promise<{ at: PageMachine; terminal: Terminal; agent: string }> {
  const at = new PageMachine(t)
  const { folder, home, project } = at.machine
  mkdirSync(home, { recursive: true })
  const env = {
    PATH: process.env.PATH!,
    HOME: join(folder, 'home'),
    TERMAITE_HOME: home,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
  }
  const terminals = terminalsOf({ env, clock }, { terminals: { host: 'tmux' } }, { lends: false })
  const terminal = await (await terminals.host()).open(running('echo'), { cwd: project, size: { cols: 100, rows: 20 } })
  at.endings.push(
    () => terminals.close(),
    () => terminal.close(),
  )
  await drawn(terminal, 'ready')
  const slot = { ...usualSlot, agent: 'claude', cwd: project, since: 1, terminal: { id: terminal.id } }
  await new SlotLedger(fileStore(home, { clock }), 'shop', clock).change(() => ({
    next: 2,
    slots: { 1: { ...slot, id: 1, state: 'idle', queue: [] } },
  }))
  await at.serve()
  return { at, terminal, agent: slotNameAtHub('claude', 1, project) }
}

const usualSlot = { task: 'Mend it', leash: 'ask', needs: [], patience: 0, session: '' } as {
  task: string
  leash: 'ask'
  needs: number[]
  patience: number
  session: string
}

async function axeFinds(page: Page): Promise<unknown[]> {
  await page.evaluate(`${axe}; undefined`)
  const { violations } = (await page.evaluate('axe.run(document)')) as {
    violations: { id: string; nodes: { html: string }[] }[]
  }
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}

describe('terminals in the page', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test(
    'a person takes the keys of a live terminal, which goes on when the hub is killed',
    { ...options, skip: noTmux },
    async (t) => {
      const { at, terminal, agent } = await crewInTmux(t)
      await at.agent(agent, at.machine.project)
      const { page, outside, faults } = await at.open(browser)
      const violations: string[] = []
      page.on(
        'console',
        (message) => message.text().includes('Content Security Policy') && violations.push(message.text()),
      )
      await shows(page, 'user · admin')
      assert.equal(
        await page.evaluate(
          "performance.getEntriesByType('resource').some(({ name }) => name.includes('terminal-screen'))",
        ),
        false,
      )
      // From the agent to its terminal, by the keyboard alone.
      await page.goto(`${at.url}/#/agents/${agent}`)
      await screenShows(page, 'ready')
      assert.ok(await page.getByRole('button', { name: 'Take the keys' }).isVisible())
      await page.locator('.xterm-screen').click()
      await page.keyboard.type('zzz')
      await page.getByRole('button', { name: 'Take the keys' }).focus()
      await page.keyboard.press('t')
      await shows(page, 'You have the keys')
      await page.keyboard.type('hello')
      await page.keyboard.press('Enter')
      await screenShows(page, 'got: hello')
      assert.ok((await terminal.touched()) > 0, 'a supervisor knows of the person’s keys')
      // A paste is one paste, whatever is in it.
      await page.evaluate(`{
      const data = new DataTransfer()
      data.setData('text/plain', 'one\\ntwo')
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    }`)
      await page.keyboard.press('Enter')
      await screenShows(page, 'got: one?two')
      await page.keyboard.press('Tab')
      await page.keyboard.type('x')
      await page.keyboard.press('Enter')
      await until(async () => /got:\s+x/.test(await screenOf(page)))
      await page.keyboard.press('Control+]')
      await shows(page, 'Read-only')
      assert.equal(await page.evaluate('document.activeElement.textContent'), 't Take the keys')
      await page.keyboard.press('Enter')
      await shows(page, 'You have the keys')
      await at.killHub()
      await shows(page, 'The connection is lost')
      await page.keyboard.type('into the void')
      await terminal.write('meanwhile\r')
      await drawn(terminal, 'got: meanwhile')
      await at.serve()
      await screenShows(page, 'got: meanwhile')
      await shows(page, 'Read-only')
      await page.getByRole('button', { name: 'Take the keys' }).click()
      await shows(page, 'You have the keys')
      await page.keyboard.type('again')
      await page.keyboard.press('Enter')
      await screenShows(page, 'got: again')
      const rows = (await screenOf(page)).split('\n').filter((row) => row.trim() !== '')
      assert.deepEqual(
        rows.map((row) => row.trim().replaceAll(/\s+/g, ' ')),
        ['ready', 'got: hello', 'got: one?two', 'got: x', 'got: meanwhile', 'got: again'],
      )
      const { cols, rows: height } = await terminal.paint()
      assert.deepEqual([cols, height], [100, 20], 'the page never resizes it')
      assert.deepEqual(await axeFinds(page), [])
      await page.goto(`${at.url}/#/terminals`)
      await shows(page, 'got: again')
      assert.deepEqual(await axeFinds(page), [])
      assert.deepEqual([outside, faults, violations], [[], [], []])
    },
  )

  test('on a phone the letters fit and a row has the keys that it lacks', { ...options, skip: noTmux }, async (t) => {
    const { at, terminal } = await crewInTmux(t)
    const { page, faults } = await at.open(browser, { width: 390, dark: true })
    await shows(page, 'user · admin')
    await page.goto(`${at.url}/#/terminals/${terminal.id}`)
    await screenShows(page, 'ready')
    await page.getByRole('button', { name: 'Take the keys' }).click()
    await shows(page, 'You have the keys')
    await page.keyboard.type('a')
    for (const name of ['Up', 'Esc', 'Enter']) await page.getByRole('button', { name, exact: true }).click()
    await screenShows(page, 'got: a^[[A^[')
    await page.getByRole('button', { name: 'Ctrl', exact: true }).click()
    await page.keyboard.type('a')
    await page.keyboard.type('b')
    await page.getByRole('button', { name: 'Enter', exact: true }).click()
    await screenShows(page, 'got: ?b')
    // A phone's keyboard enters text without any key.
    await page.keyboard.insertText('für 🎉')
    await page.getByRole('button', { name: 'Enter', exact: true }).click()
    await screenShows(page, 'got: für 🎉')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    assert.deepEqual(await axeFinds(page), [])
    assert.deepEqual(faults, [])
  })

  test('output of a program is drawn, and neither answers nor acts', options, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const { page, outside, faults } = await at.open(browser)
    const sent: PageFrame[] = []
    let socket: WebSocketRoute | undefined
    // The page's own defence is tried here: the hub would have left most of these sequences out.
    await page.routeWebSocket(/terminals/, (route) => {
      socket = route
      route.onMessage((message) => {
        sent.push(JSON.parse(String(message)) as PageFrame)
      })
      const row = {
        id: 'x',
        name: evil,
        agent: evil,
        machine: evil,
        project: evil,
        kind: 'crew',
        state: evil,
        since: 1,
      }
      route.send(JSON.stringify({ type: 'terminals', rows: [{ ...row, task: evil, keys: true }] }))
    })
    await shows(page, 'user · admin')
    await page.goto(`${at.url}/#/terminals`)
    await page.getByText('onerror').first().waitFor()
    socket!.send(JSON.stringify({ type: 'preview', id: 'x', rows: [evil] }))
    await page.goto(`${at.url}/#/terminals/x`)
    const { channel } = await until(async () => sent.find((frame) => frame.type === 'open'))
    const draw = (text: string) => {
      socket!.send(Buffer.from(drawnBytes({ type: 'output', channel, bytes: Buffer.from(text) })))
    }
    const picture = { type: 'picture', channel, cols: 80, rows: 24, bytes: Buffer.from('ready\r\n') } as const
    socket!.send(Buffer.from(drawnBytes(picture)))
    await screenShows(page, 'ready')
    socket!.send(JSON.stringify({ type: 'holder', channel, name: 'user', yours: true }))
    await shows(page, 'You have the keys')
    for (const question of questions) draw(question)
    draw(`\u001b]0;${evil}\u0007\u001b]2;${evil}\u001b\\${evil}\r\n`)
    draw(
      '\u001b]8;;javascript:alert(1)\u0007bad link\u001b]8;;\u0007 \u001b]8;;https://example.com/a\u0007web link\u001b]8;;\u0007\r\n',
    )
    draw('\u001b]52;c;ZXZpbA==\u0007\u001b[8;5;5t\u001b[?3hend of it')
    await screenShows(page, 'end of it')
    // The focus leaves and comes back, which a program may ask to be told of.
    await page.locator('h1').click()
    await page.locator('.xterm-screen').click({ position: { x: 5, y: 5 } })
    await page.mouse.wheel(0, -200)
    await clickOn(page, 'bad link')
    assert.equal(await page.locator('.terminal-link').count(), 0, 'only a web address is a link')
    // xterm finds a link a moment after the mouse is over it.
    await until(async () => {
      await clickOn(page, 'web link')
      return (await page.locator('.terminal-link').count()) === 1
    })
    const link = page.getByRole('link', { name: 'Open it in a new window' })
    assert.deepEqual(
      [await link.getAttribute('href'), await link.getAttribute('rel')],
      ['https://example.com/a', 'noopener noreferrer'],
    )
    await page.locator('.xterm-helper-textarea').focus()
    await page.keyboard.type('k')
    await until(async () => sent.some((frame) => frame.type === 'keys'))
    assert.deepEqual(
      sent.filter((frame) => frame.type === 'keys' || frame.type === 'paste'),
      [{ type: 'keys', text: 'k', channel }],
    )
    assert.deepEqual(
      await page.evaluate('[window.hacked, document.images.length, document.scripts.length, document.title]'),
      [undefined, 0, 1, 'Terminals · termaite'],
    )
    assert.deepEqual(await page.evaluate(inlineTries), [false, false, undefined, 'refused'])
    assert.deepEqual([outside, faults], [[], []])
  })
})

/** Tries a style element, a style attribute and a script in the page; each is refused, also where a terminal is shown. */
const inlineTries = `(() => {
  const make = (tag) => Document.prototype.createElement.call(document, tag)
  const style = make('style')
  style.append('#tried { outline: 3px solid red }')
  const tried = make('div')
  tried.id = 'tried'
  tried.setAttribute('style', 'border-color: red')
  const script = make('script')
  let text = ''
  try {
    script.text = 'window.hacked = 1'
  } catch {
    text = 'refused'
  }
  document.body.append(style, tried, script)
  const { outlineStyle, borderTopColor } = getComputedStyle(tried)
  return [outlineStyle === 'solid', borderTopColor === 'rgb(255, 0, 0)', window.hacked, text]
})()`

const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`

/** Every sequence to which a terminal replies, and the modes in which it reports what a person does. */
const questions = [
  ...['\u001b[c', '\u001b[>c', '\u001b[=c', '\u001bZ', '\u001b[5n', '\u001b[6n', '\u001b[?6n', '\u001b[?15n'],
  ...['\u001b[?1$p', '\u001b[4$p', '\u001b[14t', '\u001b[16t', '\u001b[18t', '\u001b[20t', '\u001b[21t'],
  ...['\u001bP$qm\u001b\\', '\u001bP$qr\u001b\\', '\u001bP+q544e\u001b\\', '\u001b[>q', '\u001b[?u', '\u0005'],
  ...['4;1', '5;0', '10', '11', '12', '17', '19', '52;c'].map((code) => `\u001b]${code};?\u0007`),
  ...[9, 1000, 1002, 1003, 1004, 1006, 1016].map((mode) => `\u001b[?${mode}h`),
]
