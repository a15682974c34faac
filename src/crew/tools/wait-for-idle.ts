import type { Tool, ToolCall } from '../../core/work/tool.ts'
import type { Crew } from '../crew.ts'
import type { Waited } from '../slot-ledger.ts'
import type { CrewDesk } from './crew-desk.ts'
import { defined } from '../../base/defined.ts'
import { about, either, integer, list, oneOf, optional, parser } from '../../core/data/shape.ts'
import { nameOf, stateWords } from '../slot.ts'
import { crewTool, deadline, seconds, slot, workspace } from './crew-desk.ts'
import {
  flagSchema,
  objectOf,
  questionSchema,
  questionView,
  questionWords,
  slotSchema,
  stateSchema,
  textSchema,
} from './slot-view.ts'

const input = parser({
  slot: about('A slot, or a list of slots.', either(list(slot, 1), slot)),
  mode: optional(about('For a list: wait until any of the slots is idle, or all. Default all.', oneOf('any', 'all'))),
  timeout: optional(about('Seconds to wait. Default 120.', seconds)),
  lines: optional(
    about('How many of the last lines of the terminal to return with the result. Default 100.', integer(1, 10_000)),
  ),
  workspace,
})

const one = {
  slot: slotSchema,
  is_idle: flagSchema,
  state: stateSchema,
  by: {
    type: 'string',
    description: 'The sign by which the state was recognised: fence, pattern, children, quiet, journal, exit.',
  },
  why: textSchema,
  output: textSchema,
  question: questionSchema,
}
const needed = ['slot', 'is_idle', 'state', 'by', 'output']

const output = objectOf({ ...one, retry: flagSchema, slots: { type: 'array', items: objectOf(one, needed) } }, needed)

/** How often a waiting client is notified that the wait continues. */
const progressMs = 5_000

export function waitForIdle(desk: CrewDesk): Tool {
  return crewTool({
    name: 'wait_for_idle',
    description:
      "Wait until an agent has finished its turn. A question of the agent ends the wait too (state asking: only a person can answer, in the agent's terminal or with `termaite crew answer`), and so do the states exited and failed. is_idle false with retry true means that the agent is still at work: call wait_for_idle again. Call get_artifact for the whole answer.",
    schema: input.schema,
    output,
    risk: 'read',
    parse: input.parse,
    async run(wishes, call) {
      const crew = desk.crew(wishes.workspace)
      const ids = [wishes.slot].flat()
      const { at, short } = deadline(desk.clock, wishes.timeout ?? 120, call.until)
      const mode = wishes.mode ?? 'all'
      const waited = await showingLife(desk, call, crew, ids, () =>
        crew.wait(ids, { until: at, mode, signal: call.signal }),
      )
      const each = await Promise.all(waited.map((slot) => waitedView(crew, slot, wishes.lines ?? 100)))
      const decisive = each[decisiveOf(waited, mode)]!
      const idle = mode === 'all' ? each.every(({ is_idle }) => is_idle) : decisive.is_idle
      const over = waited.some(({ slot }) => slot?.state === 'asking') || waited[decisiveOf(waited, mode)]!.settled
      const data = defined({
        ...decisive,
        is_idle: idle,
        retry: !idle && !over && short ? true : undefined,
        slots: Array.isArray(wishes.slot) ? each : undefined,
      })
      const more = data.retry ? ['Still at work: call wait_for_idle again.'] : []
      return { text: [...each.map(waitedWords), ...more].join('\n\n'), data }
    },
  })
}

/**
 * The index of the slot that decides a wait: one that asks a question, otherwise one that is done (for `any`) or one that is not (for
 * `all`).
 */
function decisiveOf(waited: readonly Waited[], mode: 'any' | 'all'): number {
  const asks = waited.findIndex(({ slot }) => slot?.state === 'asking')
  if (asks >= 0) return asks
  const bad = waited.findIndex(({ slot, settled }) => settled && slot?.state !== 'idle')
  const open = waited.findIndex(({ settled }) => !settled)
  const done = waited.findIndex(({ settled }) => settled)
  return Math.max(0, mode === 'any' ? done : open >= 0 ? open : bad)
}

async function waitedView(crew: Crew, { id, slot }: Waited, lines: number) {
  const state = slot?.state ?? 'exited'
  const read = slot && (await crew.read(id, { lines, until: 0 }).catch(() => undefined))
  const why = slot ? slot.why : 'the workspace was closed'
  return defined({
    slot: id,
    is_idle: state === 'idle' || (state === 'exited' && slot?.last !== undefined && !slot.last.failure),
    state,
    by: state === 'exited' ? 'exit' : state === 'idle' ? (slot?.last?.by ?? 'ready') : 'state',
    why: why || undefined,
    output: read?.output ?? '',
    question: slot?.asks && questionView(slot.asks[0].question),
  })
}

function waitedWords(one: Awaited<ReturnType<typeof waitedView>>): string {
  const asks =
    one.question &&
    `asks: ${questionWords(one.question)} (${one.question.options.map(({ label }) => label).join(' / ')})`
  const head = [`slot ${one.slot} ${one.state}`, ...(one.why === undefined ? [] : [one.why])].join(': ')
  return [head, asks, one.output].filter((part) => part !== undefined && part !== '').join('\n')
}

/** Reports the states of the slots to the client during the wait, because clients give up on a silent call. */
async function showingLife<T>(
  desk: CrewDesk,
  { progress, signal }: ToolCall,
  crew: Crew,
  ids: readonly number[],
  wait: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const stop = AbortSignal.any([over.signal, signal])
  const telling = (async () => {
    for (;;) {
      await desk.clock.sleep(progressMs, stop)
      if (stop.aborted) return
      const slots = (await crew.slots()).filter(({ id }) => ids.includes(id))
      progress(slots.map((slot) => `${nameOf(slot.id)}: ${stateWords(slot)}`).join(', '))
    }
  })().catch(() => {})
  try {
    return await wait()
  } finally {
    over.abort()
    await telling
  }
}
