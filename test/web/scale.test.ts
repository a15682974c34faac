import { test } from 'node:test'
import assert from 'node:assert/strict'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { PageMachine, noBrowser, startBrowser } from './browser.ts'
import { BusyAgents, fillLedger } from './busy-hub.ts'
import { meets, showsChange, shownBy } from './page-meter.ts'

const size = sized({ agents: 6, tasks: 1_300, everyMs: 20 }, { agents: 100, tasks: 5_000, everyMs: 2_000 })
const views = ['tasks', 'agents', 'inbox']

test(
  'two windows and a phone agree after much work, one of which was asleep',
  { skip: noBrowser, timeout: 180_000 },
  async (t) => {
    const browser = await startBrowser()
    t.after(() => browser.close())
    const at = new PageMachine(t)
    await fillLedger(at.machine.home, size, Date.now())
    await at.serve()
    const opened = [await at.open(browser), await at.open(browser), await at.open(browser, { width: 390 })]
    const pages = opened.map(({ page }) => page)
    const [first, asleep] = pages as [(typeof pages)[0], (typeof pages)[0]]
    const begun = (await at.person.state()).seq
    for (const page of pages) await showsChange(page, begun)
    await asleep.context().setOffline(true)
    const work = new BusyAgents(at, size)
    await until(() => work.requests > size.agents * 12)
    await asleep.context().setOffline(false)
    await until(() => work.requests > size.agents * 18)
    await work.stop()
    const { seq, tasks } = await at.person.state()
    const shown = await shownBy(pages, views, seq)
    assert.deepEqual(shown[1], shown[0])
    assert.deepEqual(shown[2], shown[0])
    // Every task that was ever added is found, the older ones too.
    await first.evaluate(`location.hash = '#/tasks?q=(7)'`)
    const wanted = tasks.filter(({ prompt }) => prompt.includes('(7)')).length
    await meets(first, `document.querySelectorAll('main .card').length === ${wanted}`)
    assert.deepEqual(
      opened.map(({ outside, faults }) => [outside, faults]),
      opened.map(() => [[], []]),
    )
  },
)
