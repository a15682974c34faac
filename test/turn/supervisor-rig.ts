import type { Fault, Machine } from './fake-cli.ts'
import type { Spent } from '../../src/core/work/budget.ts'
import type { Entry } from '../../src/core/talk/entry.ts'
import type {
  TaskSource,
  TaskStart,
  TicketState,
  WorkOrder,
  TaskReport,
} from '../../src/hub/model/tasks/task-source.ts'
import type {
  SupervisedState,
  SupervisorParts,
  SupervisionEnd,
  SupervisionEvent,
} from '../../src/supervise/supervision.ts'
import type { ScriptedHost, ScriptedTerminal } from '../terminals/scripted-terminals.ts'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { HandClock } from '../hand-clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { superviseCli } from '../../src/supervise/supervisor.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'
import { profileOf } from '../agents/pipe-rig.ts'
import { facts, fakeCli, machineOf } from './fake-cli.ts'

/** Work from a list: each task once, at its time; what is not acknowledged or not answered shows. */
export class ScriptedTaskSource implements TaskSource {
  readonly reports: { ticket: string; report: TaskReport }[] = []
  readonly acks: string[] = []
  readonly said: string[] = []
  orders: (WorkOrder & { at: number })[] = []
  waiting = false
  hears: TicketState = 'kept'
  lose: ((why: string) => void) | undefined
  total: Spent = { tokens: 0 }
  #clock: HandClock
  #wake = new AbortController()

  constructor(clock: HandClock) {
    this.#clock = clock
  }

  give(order: WorkOrder, at = this.#clock.now()): void {
    this.orders = [...this.orders, { ...order, at }].sort((a, b) => a.at - b.at)
    this.#wake.abort()
  }

  task(ticket: string, at?: number): void {
    this.give({ type: 'task', ticket, prompt: `do ${ticket}`, notes: [] }, at)
  }

  async next(signal: AbortSignal): Promise<WorkOrder> {
    while (!signal.aborted) {
      const [first] = this.orders
      const now = this.#clock.now()
      if (first && first.at <= now) return this.orders.shift()!
      this.#wake = new AbortController()
      await this.#clock.sleep(first ? first.at - now : 86_400_000, AbortSignal.any([signal, this.#wake.signal]))
    }
    return { type: 'none' }
  }

  async ack(ticket: string): Promise<TaskStart> {
    this.acks.push(ticket)
    return this.hears
  }

  async progress(ticket: string, text: string): Promise<TicketState> {
    this.said.push(`${ticket}: ${text}`)
    return this.hears
  }

  async block(ticket: string, question: string): Promise<TicketState> {
    this.said.push(`${ticket} asks: ${question}`)
    return this.hears
  }

  async respond(ticket: string, report: TaskReport): Promise<TicketState> {
    this.reports.push({ ticket, report })
    return this.hears
  }

  revoked(_ticket: string, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.lose = resolve
      signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
  }

  async cliPolls(): Promise<boolean> {
    return this.waiting
  }

  reportUsage(all: Spent): void {
    this.total = all
  }
}

export const workflow = 'You are at work for the hub: do what comes, and look before you do it.'

function conversationOf(clock: HandClock): Conversation {
  const store = memoryStore()
  const kept = { log: store.log<Entry>('history'), blobs: store.blobs('output') }
  return new Conversation({ ...kept, session: 's', clock, owner: 'me', alive: () => true })
}

/** One supervised fake CLI, under a clock that is turned by hand. */
export type SupervisorRig = {
  clock: HandClock
  machine: Machine
  tasks: ScriptedTaskSource
  told: (SupervisionEvent & { at: number })[]
  resumed: (string | undefined)[]
  kept: SupervisedState[]
  strike(fault: Fault): Promise<void>
  terminal(): Promise<ScriptedTerminal>
  over: Promise<SupervisionEnd>
  stop: AbortController
  host: ScriptedHost
  /** The conversation of the CLI's turns, shared by every process that has it. */
  conversation: Conversation
}

export type SupervisorRigPart = Partial<SupervisorParts> & {
  random?: () => number
  workMs?: () => number
  /** The supervision by an earlier process: its machine is the same one, and its CLI may live. */
  before?: SupervisorRig
}

export function supervisorRig({ random = () => 0.5, workMs, before, ...part }: SupervisorRigPart = {}): SupervisorRig {
  const clock = before?.clock ?? new HandClock(0)
  const machine = before?.machine ?? machineOf(clock, random, workMs)
  const host = before?.host ?? scriptedTerminals(() => fakeCli(machine), clock)
  const tasks = before?.tasks ?? new ScriptedTaskSource(clock)
  const conversation = before?.conversation ?? conversationOf(clock)
  const told: SupervisorRig['told'] = []
  const kept: SupervisedState[] = []
  const resumed: SupervisorRig['resumed'] = []
  const stop = new AbortController()
  const profile = profileOf({
    failure: ({ err, now }) => {
      const [, until] = /quota spent until (\d+)/.exec(err) ?? []
      return until === undefined
        ? undefined
        : { kind: 'quota', message: 'quota spent', retryAt: Math.max(now, Number(until)) }
    },
    screen: { ...facts, command: ({ resume, thread }) => `cli ${resume ?? thread}` },
  })
  const spec = { name: 'faker', window: 1_000, timeoutMs: 7_200_000, silenceMs: 180_000, profile, fence: true }
  const parts = { host: async () => host, clock, home: '/nowhere', env: {}, temp: '/nowhere' }
  const id = 'the-terminal'
  const came = (resume: string | undefined) => {
    if (machine.living > 0) return 'there'
    return resume === undefined ? 'began' : 'resumed'
  }
  const over = superviseCli({
    open(resume) {
      resumed.push(resume)
      const seat = {
        cwd: '/project',
        leash: 'ask' as const,
        terminal: { id },
        ...(resume === undefined ? {} : { resume }),
      }
      return { agent: screenAgent(spec, seat, parts), how: came(resume) }
    },
    facts,
    taskSource: tasks,
    conversation,
    workflow,
    cwd: '/project',
    leash: 'ask',
    ask: async (_question, withdrawn) => {
      await clock.sleep(60_000 + random() * 120_000, withdrawn)
      return withdrawn.aborted ? undefined : ['1']
    },
    budget: noBudget,
    clock,
    signal: stop.signal,
    keep: async (now) => void kept.push(now),
    tell: (event) => void told.push({ ...event, at: clock.now() }),
    mask: (text) => text,
    ...part,
  })
  const terminal = async () => (await host.find(id))!
  const strike = async (fault: Fault) => (fault === 'gone' ? (await host.find(id))?.close() : machine.strike(fault))
  return { clock, machine, tasks, told, kept, resumed, strike, terminal, over, stop, host, conversation }
}
