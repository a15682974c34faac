import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { ChildProcess } from 'node:child_process'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { Machine } from '../cli/program.ts'

const program = 'chromium'
const found = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()

/** Why no page can be tried here; false when it can. */
export const noBrowser = found === '' ? 'chromium is not installed' : false

/** Starts a browser that reaches nothing but this machine. */
export async function startBrowser(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath: found,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  })
}

type OpenOptions = {
  dark?: boolean
  width?: number | undefined
  args?: string[]
  /** Whether the page's time is turned by the test. */
  ownClock?: boolean
  /** Whether the window may install the page's worker. */
  installs?: boolean
}

/** A machine with a hub at work, whose page a browser opens. */
export class PageMachine {
  readonly machine: Machine
  /** Endings that run before the folder of the machine is removed, the last one first. */
  readonly endings: (() => Promise<unknown>)[] = []
  #context: TestContext
  #serving: ChildProcess | undefined
  #port = '0'

  constructor(context: TestContext) {
    this.#context = context
    context.after(async () => {
      for (const end of this.endings.toReversed()) await end()
    })
    this.machine = new Machine(context)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** The process of the hub. */
  get pid(): number {
    return this.#serving!.pid!
  }

  /** Starts the hub; again at the same port where it ran before. */
  async serve(): Promise<void> {
    const child = this.machine.start(['serve', '--port', this.#port])
    this.#context.after(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    this.#port = new URL(String(line).trim()).port
    this.#serving = child
  }

  async killHub(): Promise<void> {
    const over = once(this.#serving!, 'exit')
    this.#serving!.kill('SIGKILL')
    await over
  }

  /** The person at this machine, who may do everything. */
  get person(): HubClient {
    return new HubClient({ url: this.url, key: readFileSync(join(this.machine.home, 'hub.key'), 'utf8').trim() })
  }

  /** An agent that is registered under this name. */
  async agent(name: string, workspace = '/shop'): Promise<HubClient> {
    const { secret } = await this.person.operators.addKey(name, 'agent')
    const agent = new HubClient({ url: this.url, key: secret })
    await agent.register({ id: name, role: 'developer', name, workspace, capabilities: [], source: 'CLI' })
    return agent
  }

  /** Signs a new browser window in; `outside` and `faults` hold what must not happen. */
  async open(browser: Browser, options: OpenOptions = {}) {
    const { out, err } = await this.machine.run(['dashboard', ...(options.args ?? [])])
    assert.match(out, /#in=/, err)
    return openWindow(this.#context, browser, out.trim(), options)
  }
}

/** Opens a link in a browser window of its own; `outside` and `faults` hold what must not happen. */
export async function openWindow(t: TestContext, browser: Browser, link: string, options: OpenOptions = {}) {
  const { origin } = new URL(link)
  const { dark = false, width = 1280, ownClock = false, installs = false } = options
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: dark ? 'dark' : 'light',
    // A window with a service worker cannot be closed while its hub is killed; only the tests of the worker have one.
    serviceWorkers: installs ? 'allow' : 'block',
  })
  t.after(() => context.close())
  const page = await context.newPage()
  if (ownClock) await page.clock.install()
  const outside: string[] = []
  const faults: string[] = []
  page.on('request', (request) => request.url().startsWith(origin) || outside.push(request.url()))
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(link)
  return { page, outside, faults }
}

/** Waits until the page shows a text anywhere. */
export async function shows(page: Page, text: string): Promise<void> {
  await page.getByText(text, { exact: false }).first().waitFor()
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
let axe: string | undefined

/** The violations that axe finds on a page as it is now: each with its rule and the elements. */
export async function violations(page: Page): Promise<[string, string[]][]> {
  // The page's own policy lets no script of a test in, so it is run by the browser itself.
  await page.evaluate(`${(axe ??= readFileSync(axePath, 'utf8'))}; undefined`)
  const found = (await page.evaluate('axe.run(document)')) as {
    violations: { id: string; nodes: { html: string }[] }[]
    passes: { id: string }[]
  }
  assert.ok(
    found.passes.some(({ id }) => id === 'color-contrast'),
    'axe has looked',
  )
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])
}
