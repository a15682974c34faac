import type { Event, Usage } from '../core/talk/entry.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Span } from './span.ts'
import { isEntry } from '../core/talk/entry.ts'
import { names, spanId } from './span.ts'

type SpanParts = {
  /** The time of day. It must not jump, because the difference between two times is the duration of a span. */
  now(): number
  /** Returns `<provider>/<model>` of a native agent, whose model calls termaite makes. */
  model(agent: string): string | undefined
  mask(text: string): string
  /** Whether the spans contain prompts and replies. */
  content: boolean
}

/** Events whose signature names no agent that answered: a rotation signs its end, and termaite signs notes, phases and budgets. */
const unsaid = new Set<Event['type']>(['end', 'note', 'phase', 'waiting', 'budget'])

/** Makes the spans of one turn from its events: the agents that answered or were consulted, the model calls and the tool calls. */
export class TurnSpans {
  #parts: SpanParts
  #root: Span
  #done: Span[] = []
  #calls = new Map<string, Span>()
  /** The consulted agents by role: those at work, and those that are done. */
  #consulted = new Map<string, TurnSpans>()
  #heard: TurnSpans[] = []
  /** When the model call that comes next could begin. */
  #asked: number
  #tokens = { input: 0, output: 0 }
  #by: string | undefined
  #last: number

  constructor(parts: SpanParts, above?: { trace: string; id: string; role: string }) {
    this.#parts = parts
    this.#asked = this.#last = parts.now()
    this.#root = {
      trace: above?.trace ?? spanId(16),
      id: spanId(8),
      ...(above ? { parent: above.id } : {}),
      name: 'invoke_agent',
      kind: 'internal',
      from: this.#asked,
      to: this.#asked,
      attributes: { [names.operation]: 'invoke_agent', ...(above ? { [names.role]: above.role } : {}) },
    }
  }

  see(event: Event): void {
    this.#last = this.#parts.now()
    if (event.type === 'inner') return this.#inner(event.role, event.event)
    if (isEntry(event)) this.#root.attributes[names.conversation] = event.session
    if (event.type === 'prompt') return this.#tell(names.told, event.text)
    if (!unsaid.has(event.type)) this.#by = event.by ?? this.#by
    if (event.type === 'reply') this.#tell(names.said, event.text)
    if (event.type === 'call') this.#call(event)
    if (event.type === 'result') this.#result(event)
    if (event.type === 'usage') this.#usage(event)
    if (event.type === 'attempt') this.#attempt(event)
    if (event.type === 'end') this.#end(event.outcome.ok ? undefined : event.outcome.failure)
  }

  /** Returns all spans. A span without an end, such as a consultation that was left, ends with its last event. */
  spans(): Span[] {
    if (this.#done.at(-1) !== this.#root) this.#end()
    return [...this.#done, ...[...this.#heard, ...this.#consulted.values()].flatMap((inner) => inner.spans())]
  }

  #inner(role: string, event: Event) {
    const { trace, id } = this.#root
    const inner = this.#consulted.get(role) ?? new TurnSpans(this.#parts, { trace, id, role })
    this.#consulted.set(role, inner)
    inner.see(event)
    if (event.type !== 'end') return
    this.#consulted.delete(role)
    this.#heard.push(inner)
  }

  #call({ call, tool, input }: Extract<Event, { type: 'call' }>) {
    const span = this.#span(`execute_tool ${tool}`, this.#last, {
      [names.operation]: 'execute_tool',
      [names.tool]: tool,
      [names.call]: call,
      ...(this.#parts.content ? { [names.callInput]: this.#parts.mask(JSON.stringify(input)) } : {}),
    })
    this.#calls.set(call, span)
  }

  #result({ call, ok, text }: Extract<Event, { type: 'result' }>) {
    const span = this.#calls.get(call)
    this.#calls.delete(call)
    this.#asked = this.#last
    if (!span) return
    if (this.#parts.content) span.attributes[names.callResult] = this.#parts.mask(text)
    if (!ok) Object.assign(span, { error: this.#parts.mask(text.split('\n', 1)[0]!) })
    this.#close(span)
  }

  /** Ends a model call with its usage. */
  #usage({ input, output, cached }: Usage) {
    this.#tokens.input += input
    this.#tokens.output += output
    const model = this.#by === undefined ? undefined : this.#parts.model(this.#by)
    if (model === undefined) return
    const slash = model.indexOf('/')
    const span = this.#span(`chat ${model.slice(slash + 1)}`, this.#asked, {
      [names.operation]: 'chat',
      [names.provider]: model.slice(0, Math.max(slash, 0)),
      [names.model]: model.slice(slash + 1),
      [names.input]: input,
      [names.output]: output,
      ...(cached === undefined ? {} : { [names.cached]: cached }),
    })
    this.#close({ ...span, kind: 'client' })
    this.#asked = this.#last
  }

  #attempt({ failure, ms, by }: Extract<Event, { type: 'attempt' }>) {
    const span = this.#span(`invoke_agent ${by ?? 'agent'}`, this.#last - ms, {
      [names.operation]: 'invoke_agent',
      ...(by === undefined ? {} : { [names.agent]: by }),
    })
    this.#fail(span, failure)
    this.#close(span)
    this.#asked = this.#last
  }

  #end(failure?: Failure) {
    for (const span of this.#calls.values()) this.#close({ ...span, error: 'it was not finished' })
    this.#calls.clear()
    const { input, output } = this.#tokens
    Object.assign(this.#root.attributes, { [names.input]: input, [names.output]: output })
    if (this.#by !== undefined) {
      this.#root.name = `invoke_agent ${this.#by}`
      this.#root.attributes[names.agent] = this.#by
    }
    if (failure) this.#fail(this.#root, failure)
    this.#close(this.#root)
  }

  #fail(span: Span, { kind, message }: Failure) {
    span.attributes[names.error] = kind
    span.error = this.#parts.mask(message)
  }

  #tell(name: string, text: string) {
    if (this.#parts.content) this.#root.attributes[name] = this.#parts.mask(text)
  }

  #span(name: string, from: number, attributes: Span['attributes']): Span {
    const { trace, id: parent } = this.#root
    return { trace, id: spanId(8), parent, name, kind: 'internal', from, to: from, attributes }
  }

  #close(span: Span) {
    span.to = this.#last
    this.#done.push(span)
  }
}
