import type { Event, Fact, Guide, Notification } from '../../core/talk/entry.ts'
import type { Question } from '../../core/talk/question.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Call } from './model-step.ts'
import { defined } from '../../base/defined.ts'
import { Channel } from '../../base/channel.ts'
import { isFact } from '../../core/talk/entry.ts'
import { perform } from '../../core/work/perform.ts'

type ToolKit = {
  tools: readonly Tool[]
  /** Finds a tool that is not in `tools`, because a frame may be older or newer than its tools. */
  find?(name: string): Tool | undefined
  policy: Policy
  repetition: Repetition
}

/**
 * Performs the calls of one step in order; calls that only read run side by side. Returns the questions of a call that asks the person.
 */
export async function* performAll(
  calls: readonly Call[],
  step: number,
  turn: Turn,
  kit: ToolKit,
): AsyncGenerator<Event, Question[] | undefined> {
  const made = calls.map((call) => direct(call, kit))
  const tooSoon = made.filter((call) => {
    const needed = toolOf(call, kit)?.notBeside?.tools ?? []
    return made.some(({ tool }) => needed.includes(tool))
  })
  const left = made.filter((call) => !tooSoon.includes(call))
  const guides: Guide[] = []
  while (left.length > 0 && !turn.signal.aborted) {
    const reads = left.findIndex((call) => !readsBeside(toolOf(call, kit)))
    const batch = left.splice(0, reads === 0 ? 1 : reads < 0 ? left.length : reads)
    let asks: Question[] | undefined
    for await (const seen of performBatch(batch, step, turn, kit)) {
      const { event, guides: more } = loadSkill(seen)
      asks ??= asksOf(event)
      guides.push(...more)
      yield event
      // A report follows the result of its call at once, because somebody may wait for it.
      const report = reportIn(event)
      if (report) yield report
    }
    if (!asks) continue
    for (const call of [...left, ...tooSoon]) yield* skipCall(call, step, askedFirst)
    yield* guides
    return asks
  }
  for (const call of tooSoon) yield* skipCall(call, step, toolOf(call, kit)!.notBeside!.why)
  // Guides come after all results of the step: no provider accepts a message between them.
  yield* guides
  return undefined
}

/** A call in the form in which it is made: `via` is the tool through which the model made it. */
type MadeCall = Call & { via?: string }

function direct(call: Call, kit: ToolKit): MadeCall {
  const meant = toolOf(call, kit)?.standsFor?.(call.input)
  return meant ? { ...call, ...meant, via: call.tool } : call
}

const readsBeside = (tool: Tool | undefined) => tool?.risk === 'read' && !tool.alone

const toolOf = ({ tool }: Call, { tools, find }: ToolKit) => tools.find(({ name }) => name === tool) ?? find?.(tool)

/** Performs calls side by side. Every call is stored before any runs, and results come in the order of the calls. */
async function* performBatch(
  calls: readonly MadeCall[],
  step: number,
  turn: Turn,
  kit: ToolKit,
): AsyncGenerator<Event> {
  const known = kit.tools.map(({ name }) => name)
  const runs = calls.map((call) => {
    const { id, tool: name, input, via, opaque } = call
    return perform({ id, tool: toolOf(call, kit), name, input, via, step, opaque }, turn, kit.policy, known)
  })
  for (const run of runs) {
    const { value } = await run.next()
    if (value) yield value as Event
  }
  const live = new Channel<Event>(256)
  const kept = runs.map(async (run) => {
    const facts: Event[] = []
    for await (const event of run)
      if (isFact(event)) facts.push(event)
      // A subagent's events contain its usage, so they are never dropped.
      else if (event.type === 'inner') await live.push(event)
      else live.offer(event)
    return facts
  })
  const over = Promise.allSettled(kept).finally(() => live.close())
  try {
    yield* live
  } finally {
    await over
  }
  for (const [index, facts] of kept.entries()) {
    kit.repetition.see(calls[index]!)
    for (const event of await facts) yield addWarning(event, kit.repetition.warning)
  }
}

function addWarning(event: Event, warning: string): Event {
  return event.type === 'result' && warning !== '' ? { ...event, text: event.text + warning } : event
}

/** The questions for the person that a tool returns instead of a result. */
function asksOf(event: Event): Question[] | undefined {
  if (event.type !== 'result' || !event.ok) return undefined
  return (event.data as { asks?: Question[] } | undefined)?.asks
}

/**
 * Turns a loaded skill into a guide, which no trim cuts and no summary replaces; the call's result only says that the skill was loaded.
 */
function loadSkill(event: Event): { event: Event; guides: Guide[] } {
  const { skill } = ((event.type === 'result' && event.ok && event.data) || {}) as { skill?: string }
  if (event.type !== 'result' || skill === undefined) return { event, guides: [] }
  const text = `The skill ${skill} is loaded; its instructions follow.`
  return { event: { ...event, text }, guides: [{ type: 'guide', name: `skill:${skill}`, text: event.text }] }
}

const askedFirst = 'the person is being asked a question first. Call this tool again after the answer.'

/** The notification in the data of a call's result. */
function reportIn(event: Event): Notification | undefined {
  if (event.type !== 'result' || !event.ok) return undefined
  return (event.data as { notification?: Notification } | undefined)?.notification
}

function* skipCall({ id, tool, input, via, opaque }: MadeCall, step: number, why: string): Generator<Fact> {
  yield defined({ type: 'call', call: id, tool, input, via, step, opaque })
  yield { type: 'result', call: id, ok: false, text: `Skipped: ${why}` }
}

/** How often the same call may be repeated before the model is warned, and before the turn is stopped. */
export const repeats = { warned: 3, stopped: 6 }

/** Detects a model that goes in circles: the same call with the same input over and over. */
export class Repetition {
  #last = ''
  #times = 0

  see({ tool, input }: Pick<Call, 'tool' | 'input'>): void {
    const call = JSON.stringify([tool, input])
    this.#times = call === this.#last ? this.#times + 1 : 1
    this.#last = call
  }

  get stuck(): boolean {
    return this.#times >= repeats.stopped
  }

  /** The warning that is added to the result of a call that was repeated too often. */
  get warning(): string {
    if (this.#times < repeats.warned) return ''
    const left = repeats.stopped - this.#times
    return `\n\n[You have made this call with the same input ${this.#times} times in a row. Do something else: after ${left} more this turn ends.]`
  }
}
