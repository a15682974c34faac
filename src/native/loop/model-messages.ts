import type { Entry, Fact } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame, ModelMessage } from '../../core/work/model.ts'
import type { Tool } from '../../core/work/tool.ts'
import { indirectInput } from '../../core/work/tool.ts'
import { defined } from '../../base/defined.ts'
import { steerFact } from '../../core/talk/pictures.ts'
import { entryText } from '../../core/talk/transcript.ts'
import { isTurnSummary, view, withoutOldSteps } from '../../core/talk/view.ts'

type Said = Fact & { by: string }
type Spoken = Extract<ModelMessage, { role: 'assistant' }>

/** The frame of a session: its system text, and the tools in their given order. */
export function frameOf(
  system: string,
  tools: readonly Pick<Tool, 'name' | 'description' | 'schema' | 'brief'>[],
): Frame {
  return {
    system,
    tools: tools.map(({ name, description, schema, brief = schema }) => ({ name, description, schema: brief })),
  }
}

/** A text after each failed attempt. It is not part of the frame, because few sessions have a failed attempt. */
const inPlace = 'What this attempt did is still in place: look before you do it again.'

/** The part of a turn from which the messages are made. */
type Asked = Pick<Turn, 'prompt' | 'files' | 'history' | 'attempts' | 'steered'>

/**
 * The messages of a request: the view, then the events of the turn so far. A pure function, by which each request is a prefix of the
 * next. The agent's own text has the role assistant; the text of other agents is marked as theirs.
 */
export function modelMessages(self: string, turn: Asked, done: readonly Fact[]): ModelMessage[] {
  const asked: Fact = defined({ type: 'prompt', text: turn.prompt, files: turn.files?.length ? turn.files : undefined })
  const own = withoutOldSteps(done.filter((fact) => !isTurnSummary(fact)))
  return project(self, [
    ...applyTrims(turn.history, done, self),
    { ...asked, by: 'user' },
    ...turn.steered.map((text) => ({ ...steerFact(text), by: 'user' })),
    ...turn.attempts,
    ...own.map((fact) => ({ ...fact, by: fact.type === 'steer' ? 'user' : self })),
  ])
}

/**
 * Shortens the history by the trims and summaries of earlier turns that were made since the turn began, in the same way as the view of a
 * later turn.
 */
export function applyTrims(history: readonly Entry[], done: readonly Fact[], by: string): readonly Entry[] {
  const changes = done.filter((fact) => (fact.type === 'trim' || fact.type === 'summary') && fact.through !== undefined)
  if (changes.length === 0) return history
  return view([...history, ...changes.map((change) => ({ ...change, id: '', at: 0, by, session: '', turn: '' }))])
}

function project(self: string, said: readonly Said[]): ModelMessage[] {
  const list: ModelMessage[] = []
  const own = new Map<string, string>()
  /** The text and the calls of one step form one message. */
  let open: { step: number | undefined; message: Spoken } | undefined
  const assistant = ({ step }: { step?: number }): Spoken => {
    if (open && step !== undefined && open.step === step) return open.message
    open = { step, message: { role: 'assistant', text: '', calls: [] } }
    list.push(open.message)
    return open.message
  }
  for (const entry of said) {
    if (entry.type === 'prompt' || entry.type === 'steer') {
      list.push(defined({ role: 'user', text: entry.text, files: entry.files }))
    } else if (entry.type === 'guide' && entry.by === self) {
      list.push({ role: 'user', text: entry.text })
    } else if (entry.type === 'reply' && entry.by === self) {
      const message = assistant(entry)
      message.text += entry.text
      if (entry.opaque !== undefined) message.opaque = entry.opaque
    } else if (entry.type === 'call' && entry.by === self) {
      const { call, tool: called, via, input: given, opaque } = entry
      const [tool, input] = via === undefined ? [called, given] : [via, indirectInput({ tool: called, input: given })]
      own.set(call, tool)
      assistant(entry).calls.push(defined({ id: call, tool, input, opaque }))
    } else if (entry.type === 'result' && own.has(entry.call)) {
      const { call, ok, text, files } = entry
      list.push(defined({ role: 'tool', call, tool: own.get(call)!, ok, text, files }))
    } else {
      // Steps are counted from 1 again after a failed attempt and in the next turn.
      if (entry.type === 'attempt' || entry.type === 'end') open = undefined
      const text = entryText(entry as Entry)
      if (text !== '') list.push({ role: 'user', text: entry.type === 'attempt' ? `${text}\n${inPlace}` : text })
      if (entry.type === 'summary')
        for (const guide of entry.guides ?? []) if (guide.by === self) list.push({ role: 'user', text: guide.text })
    }
  }
  return list
}
