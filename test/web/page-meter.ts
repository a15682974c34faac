import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { until } from '../until.ts'

/** The frames of a page over a time. */
export type Frames = {
  seconds: number
  drawn: number
  /** Frames that came more than 50 ms and more than 100 ms after the one before, and the longest pause. */
  late: number
  veryLate: number
  longestMs: number
  /** The longest work of the page's own between two frames. */
  longestTaskMs: number
}

/** Watches the frames of a page from its beginning on; runs in the browser. */
const watcher = `{
  const meter = { first: undefined, rows: undefined, frames: [], tasks: [] }
  window.meter = meter
  let last = performance.now()
  const frame = (now) => { meter.frames.push(now - last); last = now; requestAnimationFrame(frame) }
  requestAnimationFrame(frame)
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) meter.tasks.push(duration) })
    .observe({ type: 'longtask', buffered: true })
  const look = () => {
    if (meter.first === undefined && document.querySelector('main h1')) meter.first = performance.now()
    if (meter.rows === undefined && document.querySelector('main .row')) meter.rows = performance.now()
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true })
}`

/** Waits until something is true in a page. The page's policy keeps Playwright from watching it there. */
export async function meets(page: Page, condition: string): Promise<void> {
  await until(() => page.evaluate<boolean>(condition))
}

/** Waits until a page shows the change of this number of the hub. */
export async function showsChange(page: Page, seq: number): Promise<void> {
  await meets(page, `Number(document.querySelector('.connection')?.dataset.change) >= ${seq}`)
}

/** The words of each view on these pages at the same change of the hub, without ages; each page is drawn at the same size for it. */
export async function shownBy(pages: readonly Page[], views: readonly string[], seq: number): Promise<string[][]> {
  const all: string[][] = []
  for (const page of pages) {
    await page.setViewportSize({ width: 1280, height: 900 })
    const shown: string[] = []
    for (const view of views) {
      await page.evaluate(`location.hash = '#/${view}'`)
      await showsChange(page, seq)
      // Two frames: the first one draws what has changed, and in the second it is there.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      shown.push((await page.evaluate(visibleText)) as string)
    }
    all.push(shown)
  }
  return all
}

const visibleText = `(() => {
  const main = document.querySelector('main').cloneNode(true)
  for (const time of main.querySelectorAll('time')) time.remove()
  return [document.querySelector('nav').textContent, ...[...main.querySelectorAll('h1, h2, .row, .card')].map((part) => part.textContent)].join('\\n')
})()`

/** A page whose frames, bytes and memory are measured. */
export class PageMeter {
  readonly page: Page
  #session: CDPSession
  #bytes = 0

  private constructor(page: Page, session: CDPSession) {
    this.page = page
    this.#session = session
    session.on('Network.dataReceived', ({ encodedDataLength }) => (this.#bytes += encodedDataLength))
    session.on('Network.responseReceived', ({ response }) => (this.#bytes += response.encodedDataLength))
  }

  /** Opens an address in a new page of a browser that is signed in. */
  static async open(context: BrowserContext, url: string): Promise<PageMeter> {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Performance.enable')
    const meter = new PageMeter(page, session)
    await page.addInitScript(watcher)
    await page.goto(url)
    return meter
  }

  /** Ms from the beginning of the load to the first heading of a view, and to the first row in it. */
  async loaded(): Promise<{ heading: number; row: number }> {
    await this.page.locator('main .row').first().waitFor()
    return this.#evaluate('({ heading: meter.first, row: meter.rows })')
  }

  /** The bytes that were received since the last call, as they came over the wire. */
  bytes(): number {
    const bytes = this.#bytes
    this.#bytes = 0
    return bytes
  }

  /** The memory of the page's own objects in MB, after what is not used was collected. */
  async memory(): Promise<number> {
    await this.#session.send('HeapProfiler.collectGarbage')
    const { metrics } = await this.#session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1024 / 1024
  }

  /** The frames since the last call. */
  frames(): Promise<Frames> {
    return this.#evaluate(`(() => {
      const frames = meter.frames.splice(0), tasks = meter.tasks.splice(0)
      return {
        seconds: frames.reduce((sum, ms) => sum + ms, 0) / 1000,
        drawn: frames.length,
        late: frames.filter((ms) => ms > 50).length,
        veryLate: frames.filter((ms) => ms > 100).length,
        longestMs: Math.max(0, ...frames),
        longestTaskMs: Math.max(0, ...tasks),
      }
    })()`)
  }

  #evaluate<T>(script: string): Promise<T> {
    return this.page.evaluate(script) as Promise<T>
  }
}
