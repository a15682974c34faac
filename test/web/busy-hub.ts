import { emptyWrites } from '../../src/hub/model/hub-ledger.ts'
import type { NewNote } from '../../src/hub/model/tasks/task-note.ts'
import type { TryDiff } from '../../src/hub/model/tasks/task-try.ts'
import type { Task } from '../../src/hub/model/tasks/task.ts'
import type { PageMachine } from './browser.ts'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import {
  acknowledgeTask,
  approveTask,
  blockTask,
  cancelTask,
  offerTask,
  noteProgress,
  queuedAgain,
  endWork,
} from '../../src/hub/engine/rules/task-moves.ts'
import { newTask } from '../../src/hub/engine/rules/task-rules.ts'
import { TaskTexts } from '../../src/hub/engine/texts/task-texts.ts'
import { fileHubLedger } from '../../src/hub/ledgers/sqlite/hub-ledger.ts'

const workspaces = ['/home/anna/shop', '/home/anna/api', '/home/anna/docs', '/srv/billing']
const subjects = ['the rounding of prices', 'the login form', 'the export to CSV', 'the help pages', 'the build']
const verbs = ['Fix', 'Write a test for', 'Explain and document', 'Speed up', 'Remove dead code from']

/** The name of an agent by its number. */
export const agentName = (at: number) => `agent-${String(at).padStart(3, '0')}`

const promptOf = (at: number) =>
  `${verbs[at % verbs.length]} ${subjects[(at * 7) % subjects.length]} (${at})\n\n${'Say first what you will do, and keep to the conventions of the project. '.repeat(2 + (at % 5))}`

const diffOf = (at: number) =>
  Array.from(
    { length: 1 + (at % 3) },
    (_, file) =>
      `diff --git a/src/part-${at}-${file}.ts b/src/part-${at}-${file}.ts\n--- a/src/part-${at}-${file}.ts\n+++ b/src/part-${at}-${file}.ts\n@@ -1,20 +1,20 @@\n${Array.from({ length: 20 }, (_, line) => `-const value${line} = round(${line})\n+const value${line} = round(sum(${line}))\n`).join('')}`,
  ).join('')

/** Writes a ledger as long work leaves it: most tasks are done, each with its notes, its tries and its changes. */
export async function fillLedger(
  home: string,
  { tasks, agents }: { tasks: number; agents: number },
  now: number,
): Promise<void> {
  mkdirSync(home, { recursive: true })
  const ledger = fileHubLedger(join(home, 'hub.db'))
  const changes = Array.from({ length: agents }, (_, at) => ({
    at: now,
    type: 'agent' as const,
    agent: {
      id: agentName(at),
      role: 'developer',
      name: agentName(at),
      capabilities: [],
      workspace: workspaces[at % workspaces.length]!,
      source: at % 4 === 0 ? ('IDE' as const) : ('CLI' as const),
      registered: now,
      seen: now,
      inbox: [],
      tokens: at * 1000,
    },
  }))
  try {
    const texts = new TaskTexts(ledger.blobs)
    // A few diffs are enough for all tasks: each one is a file that is written durably.
    const diffs: TryDiff[] = []
    for (let at = 0; at < 30; at++) diffs.push((await texts.diff(diffOf(at)))!)
    const old = Array.from({ length: tasks }, (_, at) =>
      oldTask(at, agents, now - (tasks - at) * 60_000, diffs[at % diffs.length]!),
    )
    await ledger.round(async (round) => {
      const rows = old.map((task) => ({ task, touched: round.steady, ready: task.state === 'QUEUED' }))
      const known = changes.map(({ agent }) => ({ agent, heard: round.steady }))
      const notes = old.flatMap(({ id, notes: some }) => some.map((note) => ({ task: id, note })))
      await round.write({ ...emptyWrites, tasks: rows, agents: known, notes, changes })
    })
  } finally {
    await ledger.close()
  }
}

/** The task of a number as it may be after a while; one in five is open. */
function oldTask(at: number, agents: number, began: number, diff: TryDiff): Task {
  const by = agentName(at % agents)
  const note = (kind: NewNote['kind'], text: string): NewNote => ({ at: began + 1000, by, kind, text })
  const tried = () => {
    const queued = newTask(
      {
        id: `task-${String(at).padStart(6, '0')}`,
        prompt: promptOf(at),
        workspace: workspaces[at % workspaces.length]!,
        priority: at % 17 === 0 ? 5 : 0,
        by: 'user',
      },
      new Map(),
      began,
    )
    return queued
  }
  const working = (from = tried()) =>
    Array.from({ length: 5 + (at % 20) }, (_, step) =>
      note('progress', `Step ${step} of the work: read the files, changed some of them and ran the tests again.`),
    ).reduce(
      (task, said) => noteProgress(task, said),
      acknowledgeTask(offerTask(from, by, { at: began, by: 'hub' }), began + 500),
    )
  const result = { message: `Did what was asked in ${1 + (at % 3)} files; the tests pass.` }
  const respond = (status: 'COMPLETED' | 'IN_REVIEW' | 'FAILED', from = working()) =>
    endWork(from, status, { result, diff }, note('response', result.message))
  if (at % 5 === 0) {
    const kind = (at / 5) % 20
    if (kind === 0) return blockTask(working(), 'needs a decision', note('question', 'May the old files be removed?'))
    return kind < 4 ? respond('IN_REVIEW') : tried()
  }
  if (at % 33 === 1) return respond('FAILED')
  if (at % 21 === 2) return cancelTask(working(), { at: began + 2000, by: 'user', why: 'not needed any more' })
  if (at % 3 === 0) return respond('COMPLETED')
  const first = respond('IN_REVIEW')
  if (first.state !== 'IN_REVIEW') return first
  const again = queuedAgain(first, { at: began + 3000, by: 'user', note: note('comment', 'Please keep the names.') })
  const second = respond('IN_REVIEW', working(again))
  return second.state === 'IN_REVIEW' ? approveTask(second, { at: began + 4000, by: 'user' }) : second
}

/** Agents that take tasks and report on them for as long as the signal lets them. */
export class BusyAgents {
  /** How many requests the agents have sent. */
  requests = 0
  #working: Promise<void>[]
  #stop = new AbortController()

  /** Each agent reports every `everyMs`; all have their own key. */
  constructor(at: PageMachine, { agents, everyMs }: { agents: number; everyMs: number }) {
    this.#working = Array.from({ length: agents }, (_, number) => this.#work(at, number, everyMs))
    this.#working.push(this.#feed(at, agents, everyMs))
    // `stop` throws what an agent failed with.
    for (const working of this.#working) working.catch(() => {})
  }

  /** Ends the agents; throws what one of them failed with. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#working)
  }

  async #work(at: PageMachine, number: number, everyMs: number): Promise<void> {
    const { signal } = this.#stop
    const id = agentName(number)
    const hub = new HubClient({ url: at.url, key: (await at.person.lend(id)).secret })
    const workspace = workspaces[number % workspaces.length]!
    await hub.register({ id, role: 'developer', name: id, capabilities: [], workspace, source: 'CLI' })
    let tokens = 0
    for (let round = number; !signal.aborted; round++) {
      const given = await hub.wait(id, 30, signal).catch(() => undefined)
      if (given?.type !== 'task') continue
      await hub.tell(given.ticket, 'ack', { agent: id })
      for (let step = 0; step < 6 + (round % 7); step++) {
        await pause(everyMs * (0.5 + ((round * 31 + step * 17) % 100) / 100), signal)
        const message = `Step ${step}: read ${step + 3} files and ran the tests (round ${round}).`
        await hub.tell(given.ticket, 'progress', { agent: id, message, percentage: step * 8 })
        if (step % 3 === 0) await hub.spent(id, { tokens: (tokens += 4000), cost: tokens / 1e6 })
        this.requests += 2
      }
      const status = round % 3 === 0 ? 'IN_REVIEW' : round % 11 === 0 ? 'FAILED' : 'COMPLETED'
      await hub.respond(given.ticket, id, { status, message: `Round ${round} is done.`, diff: diffOf(round) })
      this.requests += 3
    }
  }

  /** A person adds tasks, so that no agent is without work. */
  async #feed({ person }: PageMachine, agents: number, everyMs: number): Promise<void> {
    const { signal } = this.#stop
    for (let at = 0; !signal.aborted; at++) {
      const workspace = workspaces[at % workspaces.length]!
      await person.add({ prompt: `New: ${promptOf(at)}`, workspace })
      this.requests++
      await pause((everyMs * 8) / agents, signal)
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(over, ms)
    function over() {
      clearTimeout(timer)
      signal.removeEventListener('abort', over)
      resolve()
    }
    signal.addEventListener('abort', over)
  })
}
