import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Row } from './measure.ts'
import type { Slot } from '../src/crew/slot.ts'
import type { Frames } from '../test/web/page-meter.ts'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { terminalsOf } from '../src/crew/machine/crew-terminals.ts'
import { realClock as clock } from '../src/base/time/clock.ts'
import { SlotLedger } from '../src/crew/slot-ledger.ts'
import { fileStore } from '../src/store/files/file-store.ts'
import { noTmux } from '../test/terminals/real.ts'
import { PageMachine, noBrowser, startBrowser } from '../test/web/browser.ts'
import { BusyAgents, fillLedger } from '../test/web/busy-hub.ts'
import { PageMeter, meets, shownBy } from '../test/web/page-meter.ts'

/** `DASHBOARD=100,5000,20,60` says how many agents, tasks, terminals and seconds. */
const [agents = 100, tasks = 5_000, terminals = 20, seconds = 60] = (process.env.DASHBOARD ?? '')
  .split(',')
  .filter((part) => part !== '')
  .map(Number)

/** The hub's page with many agents and tasks in a real browser, beside the page of an empty hub. */
export async function dashboard(): Promise<Row[]> {
  if (noBrowser !== false) return []
  const browser = await startBrowser()
  try {
    const empty = await withHub((at) => loadTimes(browser, at))
    return await withHub((at) => busyPage(browser, at, empty), { tasks, agents })
  } finally {
    await browser.close()
  }
}

async function withHub<T>(
  work: (at: PageMachine) => Promise<T>,
  filled?: { tasks: number; agents: number },
): Promise<T> {
  const ends: (() => unknown)[] = []
  const at = new PageMachine({ after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext)
  try {
    if (filled) await fillLedger(at.machine.home, filled, Date.now())
    if (filled && terminals > 0 && !noTmux) await openTerminals(at, terminals)
    await at.serve()
    return await work(at)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

/** Ms to the first heading, to the first row and to all tasks, and the bytes of all of them. */
type Loaded = { heading: number; row: number; all: number; bytes: number }

/** Opens the board three times; the medians. */
async function loadTimes(browser: Browser, at: PageMachine): Promise<Loaded> {
  await at.person.add({ prompt: 'The only task', workspace: '/shop' })
  const { page } = await at.open(browser)
  const all: Loaded[] = []
  for (let time = 0; time < 3; time++) {
    const began = performance.now()
    const meter = await PageMeter.open(page.context(), `${at.url}/#/tasks`)
    const loaded = await meter.loaded()
    await meets(meter.page, `document.querySelector('.connection')?.dataset.tasks === 'all'`)
    all.push({ ...loaded, all: performance.now() - began, bytes: meter.bytes() })
    await meter.page.close()
  }
  return all.toSorted((a, b) => a.row - b.row)[1]!
}

async function busyPage(browser: Browser, at: PageMachine, empty: Loaded): Promise<Row[]> {
  const load = loadavg()[0]!
  const loaded = await loadTimes(browser, at)
  const work = new BusyAgents(at, { agents, everyMs: 2_000 })
  // Each page has a window of its own: a tab behind another one draws nothing.
  const opened = async (view: string, width?: number) => {
    const { page } = await at.open(browser, { width })
    const meter = await PageMeter.open(page.context(), `${at.url}/#/${view}`)
    await page.close()
    await meter.loaded()
    return meter
  }
  const board = await opened('tasks')
  const all = [board, await opened('agents'), await opened('inbox', 390)]
  const names = ['board', 'agents', 'phone']
  if (terminals > 0 && !noTmux) {
    all.push(await opened('terminals'))
    const links = await all[3]!.page.evaluate(
      `[...document.querySelectorAll('.terminals h2 a')].map(({ hash }) => hash)`,
    )
    const ids = (links as string[]).map((hash) => hash.replace('#/terminals/', ''))
    all.push(await opened(`terminals/${ids[0]}?beside=${ids.slice(1, 4).join('+')}`))
    names.push(`${ids.length} terminals in small`, '4 open terminals')
  }
  const before = await Promise.all(all.map((meter) => meter.memory()))
  for (const meter of all) (await meter.frames(), meter.bytes())
  const hubBefore = hubStatus(at)
  const [requests, began] = [work.requests, performance.now()]
  const halves: number[] = []
  for (let half = 0; half < 2; half++) {
    await new Promise((resolve) => setTimeout(resolve, (seconds / 2) * 1000))
    halves.push(await board.memory())
  }
  const frames = await Promise.all(all.map((meter) => meter.frames()))
  const passed = (performance.now() - began) / 1000
  const hubAfter = hubStatus(at)
  const bytes = all.map((meter) => meter.bytes())
  const after = await Promise.all(all.map((meter) => meter.memory()))
  const rate = (work.requests - requests) / passed
  await work.stop()
  const { seq } = await at.person.state()
  const pages = all.slice(0, 3).map(({ page }) => page)
  const [first, ...others] = (await shownBy(pages, ['tasks', 'agents', 'inbox'], seq)).map((shown) =>
    shown.join('\n').split('\n'),
  )
  for (const shown of others) {
    const at = shown.findIndex((line, index) => line !== first![index])
    if (at >= 0) throw new Error(`at change ${seq} one page shows "${first![at]}", and another one "${shown[at]}"`)
  }
  const size = `${agents} agents, ${tasks} tasks, ${terminals} terminals`
  const listed = (of: (at: number) => string) => names.map((name, index) => `${name} ${of(index)}`).join(', ')
  return [
    {
      what: 'dashboard: first row of the board, against an empty hub',
      value: loaded.row / empty.row,
      unit: 'ratio',
      detail: `${size}: heading after ${loaded.heading.toFixed(0)} ms, first row after ${loaded.row.toFixed(0)} ms, all tasks after ${loaded.all.toFixed(0)} ms, ${kB(loaded.bytes)}; empty: ${empty.heading.toFixed(0)}, ${empty.row.toFixed(0)} and ${empty.all.toFixed(0)} ms, ${kB(empty.bytes)}; load of the machine ${load.toFixed(1)}`,
    },
    {
      what: `dashboard: longest frame in ${passed.toFixed(0)} s of work`,
      value: Math.max(...frames.map(({ longestMs }) => longestMs)),
      unit: 'ms',
      bar: 100,
      detail: `${rate.toFixed(0)} requests/s; ${listed((index) => frameWords(frames[index]!))}; load ${loadavg()[0]!.toFixed(1)}`,
    },
    {
      what: 'dashboard: bytes of the board for one second of work',
      value: bytes[0]! / passed,
      unit: 'bytes',
      detail: listed((index) => `${kB(bytes[index]!)} in all`),
    },
    {
      what: 'dashboard: memory of the board after the work, against before',
      value: after[0]! / before[0]!,
      unit: 'ratio',
      detail: `${listed((index) => `${before[index]!.toFixed(1)} → ${after[index]!.toFixed(1)} MB`)}; the board at half time ${halves[0]!.toFixed(1)} MB, at the end ${halves[1]!.toFixed(1)} MB; two windows and a phone show the same at change ${seq}`,
    },
    {
      what: 'dashboard: memory of the hub',
      value: hubAfter.rss,
      unit: 'MB',
      detail: `before ${hubBefore.rss.toFixed(0)} MB; ${(((hubAfter.cpuMs - hubBefore.cpuMs) / (passed * 1000)) * 100).toFixed(0)} % of one processor`,
    },
  ]
}

/** Agents of a crew in tmux whose programs print without end. */
async function openTerminals(at: PageMachine, many: number): Promise<void> {
  const { folder, home, project } = at.machine
  const env = { PATH: process.env.PATH!, HOME: join(folder, 'home'), TERMAITE_HOME: home, SHELL: '/bin/bash' }
  const hosts = terminalsOf(
    { env: { ...env, LANG: 'C.UTF-8' }, clock },
    { terminals: { host: 'tmux' } },
    { lends: false },
  )
  at.endings.push(() => hosts.close())
  const host = await hosts.host()
  const slots: Record<number, Slot> = {}
  for (let id = 1; id <= many; id++) {
    const command = `for at in $(seq 1000000); do echo "$at: agent ${id} reads a file and says what it found in it"; sleep 0.2; done`
    const terminal = await host.open(command, { cwd: project, size: { cols: 100, rows: 30 } })
    at.endings.push(() => terminal.close())
    slots[id] = { ...usualSlot, id, cwd: project, terminal: { id: terminal.id } }
  }
  await new SlotLedger(fileStore(home, { clock }), 'shop', clock).change(() => ({ next: many + 1, slots }))
}

const usualSlot = {
  agent: 'claude',
  task: 'Read',
  leash: 'ask',
  needs: [],
  patience: 0,
  session: '',
  since: 1,
  state: 'idle',
  queue: [],
} satisfies Partial<Slot>

const kB = (bytes: number) => `${(bytes / 1024).toFixed(0)} kB`

const frameWords = ({ drawn, seconds: passed, late, veryLate, longestMs, longestTaskMs }: Frames) =>
  `${(drawn / passed).toFixed(0)} frames/s, ${late} over 50 ms, ${veryLate} over 100 ms, longest ${longestMs.toFixed(0)} ms (own work ${longestTaskMs.toFixed(0)} ms)`

function hubStatus({ pid }: PageMachine): { rss: number; cpuMs: number } {
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  // The kernel counts in hundredths of a second.
  return { rss, cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 }
}
