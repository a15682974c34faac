import type { Entry, Fact } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame, ModelMessage } from '../../core/work/model.ts'
import type { Tool } from '../../core/work/tool.ts'
import { entryText } from '../../core/talk/transcript.ts'
import { withoutOldSteps } from '../../core/talk/view.ts'
import { trimmed } from './window-trim.ts'

type Said = Fact & { by: string }
type Spoken = Extract<ModelMessage, { role: 'assistant' }>

/** What is fixed for a session; the tools in the order they were given. */
export function frameOf(system: string, tools: readonly Tool[]): Frame {
  return { system, tools: tools.map(({ name, description, schema }) => ({ name, description, schema })) }
}

/**
 * The view and what happened in the turn so far, as the model is told it: pure, and each request a prefix of the next.
 * What the agent said itself is the assistant's; other agents' words are marked as theirs.
 */
export function modelMessages(self: string, turn: Turn, done: readonly Fact[]): ModelMessage[] {
  const asked: Fact = { type: 'prompt', text: turn.prompt, ...(turn.files?.length ? { files: turn.files } : {}) }
  return project(self, [
    ...leftOut(turn.history, done),
    { ...asked, by: 'user' },
    ...turn.steered.map((text) => ({ type: 'steer' as const, text, by: 'user' })),
    ...turn.attempts,
    ...withoutOldSteps(done).map((fact) => ({ ...fact, by: fact.type === 'steer' ? 'user' : self })),
  ])
}

/** What was trimmed since the turn began is left out as the view of a later turn leaves it out. */
function leftOut(history: readonly Entry[], done: readonly Fact[]): readonly Entry[] {
  const trim = done.findLast((fact) => fact.type === 'trim' && fact.through !== undefined)
  return trim?.type === 'trim' ? trimmed(history, trim) : history
}

function project(self: string, said: readonly Said[]): ModelMessage[] {
  const list: ModelMessage[] = []
  const own = new Map<string, string>()
  /** What is said and called in one step is one message. */
  let open: { step: number | undefined; message: Spoken } | undefined
  const assistant = ({ step }: { step?: number }): Spoken => {
    if (open && step !== undefined && open.step === step) return open.message
    open = { step, message: { role: 'assistant', text: '', calls: [] } }
    list.push(open.message)
    return open.message
  }
  for (const entry of said) {
    if (entry.type === 'prompt') {
      list.push({ role: 'user', text: entry.text, ...(entry.files ? { files: entry.files } : {}) })
    } else if (entry.type === 'steer') {
      list.push({ role: 'user', text: entry.text })
    } else if (entry.type === 'guide' && entry.by === self) {
      list.push({ role: 'user', text: entry.text })
    } else if (entry.type === 'reply' && entry.by === self) {
      const message = assistant(entry)
      message.text += entry.text
      if (entry.opaque !== undefined) message.opaque = entry.opaque
    } else if (entry.type === 'call' && entry.by === self) {
      const { call, tool, input, opaque } = entry
      own.set(call, tool)
      assistant(entry).calls.push({ id: call, tool, input, ...(opaque === undefined ? {} : { opaque }) })
    } else if (entry.type === 'result' && own.has(entry.call)) {
      const { call, ok, text, files } = entry
      list.push({ role: 'tool', call, tool: own.get(call)!, ok, text, ...(files ? { files } : {}) })
    } else {
      // Steps are counted anew after a failed try and in the next turn.
      if (entry.type === 'attempt' || entry.type === 'end') open = undefined
      const text = entryText(entry as Entry)
      if (text !== '') list.push({ role: 'user', text })
      if (entry.type === 'summary')
        for (const guide of entry.guides ?? []) if (guide.by === self) list.push({ role: 'user', text: guide.text })
    }
  }
  return list
}
