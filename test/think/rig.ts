import type { Event } from '../../src/core/talk/entry.ts'
import type { Failure, Outcome } from '../../src/core/talk/outcome.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { Agent, Turn } from '../../src/core/work/agent.ts'
import type { Policy } from '../../src/core/work/policy.ts'
import type { SystemSpec } from '../../src/core/profile/system-spec.ts'
import type { Tool } from '../../src/core/work/tool.ts'
import type { Script } from '../agents/scripted-agent.ts'
import type { Resources, Checkpoints } from '../../src/think/resources.ts'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { perform } from '../../src/core/work/perform.ts'
import { take } from '../../src/core/work/verbs.ts'
import { machineSummary } from '../../src/machine/machine-summary.ts'
import { rotate } from '../../src/turn/rotation/rotate.ts'
import { turnOf } from '../contract/agent.ts'
import { drained } from '../core/made.ts'
import { rig as roster } from '../turn/rig.ts'
import { machines } from './machines.ts'

/**
 * The end of a command: its exit code, more than that, or nothing until it is cancelled. A list has one for each run, and the last one
 * stays.
 */
export type Ran = number | { exit?: number | string; text?: string } | 'hang'

export type Rigged = {
  /** The agents that can be asked, in this order, with one script for each turn; the last script stays. */
  agents?: Record<string, Script[]>
  /** The agent that acts, as `actor`; without it a real rotation over `agents` acts. */
  actor?: Script[] | Agent
  assigned?: Resources['assigned']
  spec?: SystemSpec
  /** The end of each command that `bash` knows; every other command is not found. */
  commands?: Record<string, Ran | Ran[] | ((turn: Turn) => Ran)>
  /** The policy of the tools; without it they may do everything. */
  policy?: Policy
  tools?: readonly Tool[]
  /** The project's files, as hands read them and a rewind puts them back. */
  files?: Map<string, string>
  /** Whether the council may be asked again once everything failed. */
  council?: boolean
  /** Whether there are checkpoints of the files. */
  rewind?: boolean | Checkpoints
}

/** The resources of a framework made of scripted agents, on a clock that is turned by hand. */
export function thinkingRig(o: Rigged = {}) {
  const { agents = { claude: [[{ say: 'fine' }]], gemini: [[{ say: 'fine' }]] }, spec = machines.bare } = o
  const files = o.files ?? new Map<string, string>()
  const { clock, asked, roster: members, health } = roster(agents)
  const rotation = {
    strategy: 'round-robin' as const,
    health,
    cooldown: { failures: 3, seconds: 60, maxSeconds: 1_800 },
    random: () => 0,
    mask: (text: string) => text,
    out: new Map(),
    sharing: 'all' as const,
  }
  const actor = Array.isArray(o.actor) ? scriptedAgent('actor', o.actor) : (o.actor ?? rotate(members, rotation))
  const made: Resources = {
    actor,
    readers: Object.keys(agents),
    assigned: o.assigned ?? {},
    openReader: (first, told) => rotate(members, { ...rotation, out: new Map(), consulted: true, first, told }),
    machine: { spec, description: machineSummary(spec) },
    tools: handsOf(o, files),
    maskAdvice: (text) => text,
    moreCalls: {
      agreed: Infinity,
      async *may() {
        return true
      },
      async *mayConvene() {
        return o.council === true
      },
    },
    ...(o.rewind ? { checkpoints: o.rewind === true ? projectCheckpoints(files) : o.rewind } : {}),
  }
  return {
    resources: made,
    clock,
    files,
    health,
    /** Every seat that was asked, in order; one that acted by rotation is among them. */
    asked,
    names: () => asked.map(({ name }) => name),
    /** The agents that are still at work. */
    running: () => asked.flatMap(({ name, running }) => (running ? [name] : [])),
    /** The prompts of one agent, in order. */
    told: (name: string) =>
      asked.filter((seat) => seat.name === name).flatMap(({ turns }) => turns.map(({ prompt }) => prompt)),
    turn: (over: Partial<Turn> = {}) => turnOf({ clock, leash: 'edit', prompt: 'the task', ...over }),
    /** The turn of an agent made of these resources: its events, and its facts without what was spent. */
    async run(agent: Agent, over: Partial<Turn> = {}) {
      const { events, result } = await drained(
        take(agent, turnOf({ clock, leash: 'edit', prompt: 'the task', ...over })),
      )
      return { events, facts: factsIn(events), result }
    },
  }
}

/** The events of a stream that are worth comparing whole: neither those that are only shown nor the spent tokens. */
export function factsIn(events: readonly Event[]): Event[] {
  const passing = new Set(['text', 'thought', 'progress', 'state', 'phase', 'usage', 'inner', 'limit', 'plan'])
  return events.filter(({ type }) => !passing.has(type))
}

export const phasesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'phase' ? [event.words] : []))

export const notesIn = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'note' ? [event.text] : []))

/** A person who gives these picks one after another, and then no more; `asked` are the questions. */
export function person(...picks: (string[] | undefined)[]) {
  const asked: Question[] = []
  const ask: Turn['ask'] = async (question) => {
    asked.push(question)
    return picks[asked.length - 1]
  }
  return { asked, ask }
}

/** An answer as an agent gives it that reasons first. */
export const json = (value: unknown): Script => [
  { say: `I thought about it.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` },
]

export const says = (text: string): Script => [{ say: text }]
export const dies = (message = 'it broke'): Script => [{ fail: { kind: 'crash', message } }]
export const hangs: Script = [{ type: 'text', delta: 'hm' }, { hang: true }]

/** A budget that is spent after this many calls. */
export function callBudget(calls: number): Turn['budget'] {
  let left = calls
  const refuse = () => (left-- > 0 ? undefined : failureOfEmpty)
  const budget: Turn['budget'] = {
    refuse,
    reserve() {
      const failure = refuse()
      return failure ? { failure } : { budget, release: () => {} }
    },
    spend: () => {},
  }
  return budget
}

const failureOfEmpty: Failure = { kind: 'unfinished', message: 'the budget is spent', stoppedBy: 'cost' }

export const empty: Outcome = {
  ok: false,
  failure: failureOfEmpty,
}

function handsOf({ commands = {}, tools = [], policy }: Rigged, files: Map<string, string>): Resources['tools'] {
  const allowed: Policy = async () => ({ verdict: 'yes', why: 'it is a test' })
  const times = new Map<string, number>()
  let calls = 0
  const known = (turn: Turn) => [bash(commands, times, turn), ...tools]
  return {
    async *use(name, input, turn) {
      const tool = known(turn).find((one) => one.name === name)
      const events = perform({ id: `c${++calls}`, tool, name, input }, turn, policy ?? allowed)
      for (;;) {
        const next = await events.next()
        if (next.done) return next.value
        yield { by: 'termaite', ...next.value }
      }
    },
    read: async (path) => files.get(path),
  }
}

function bash(commands: NonNullable<Rigged['commands']>, times: Map<string, number>, turn: Turn): Tool {
  const next = (command: string): Ran => {
    const script = commands[command] ?? { exit: 127, text: `sh: ${command}: not found\n[exit 127]` }
    if (typeof script === 'function') return script(turn)
    if (!Array.isArray(script)) return script
    const time = times.get(command) ?? 0
    times.set(command, time + 1)
    return script[Math.min(time, script.length - 1)]!
  }
  return {
    name: 'bash',
    description: '',
    schema: {},
    risk: 'run',
    parse: (input) => input,
    async run(input, { signal }) {
      const ran = next((input as { command: string }).command)
      if (ran === 'hang') {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        return '[cancelled]'
      }
      const { exit, text } = typeof ran === 'number' ? { exit: ran, text: undefined } : ran
      return { text: text ?? '[no output]', ...(exit === undefined ? {} : { data: { exit } }) }
    },
  }
}

/** The past of files in memory; a patch is a line for each that changed. */
function projectCheckpoints(files: Map<string, string>): Checkpoints {
  const marks: Map<string, string>[] = []
  const marked = () => `m${marks.push(new Map(files)) - 1}`
  const changed = (mark: string) => {
    const then = marks[Number(mark.slice(1))]!
    return [...new Set([...then.keys(), ...files.keys()])].filter((path) => then.get(path) !== files.get(path)).sort()
  }
  return {
    mark: async () => marked(),
    since: async (mark) => {
      const paths = changed(mark)
      const patch = paths.map((path) => `+${path}: ${files.get(path) ?? '(gone)'}`).join('\n')
      return { patch, files: paths, seen: marked() }
    },
    restore: async (mark) => {
      const then = marks[Number(mark.slice(1))]!
      for (const path of changed(mark)) {
        const was = then.get(path)
        if (was === undefined) files.delete(path)
        else files.set(path, was)
      }
      return []
    },
  }
}
