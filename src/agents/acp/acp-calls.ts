import type { ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { FileChange } from '../../core/talk/entry.ts'
import type { Emit } from '../seat.ts'
import { defined } from '../../base/defined.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { shortPath } from '../../base/files/short-path.ts'

/** The known parts of a tool call: agents describe a call in several updates. */
export type Call = Omit<Partial<ToolCall>, 'toolCallId'> & { id: string }

type Kept = Call & { told: boolean; over: boolean; shown: string; diffs: FileChange[] }

type CallParts = {
  cwd: string
  emit: Emit
  /** The output of one of our terminals so far. */
  printed(terminal: string): string
}

/** The tool calls of one turn. Each call emits one start, as soon as its input is known or it begins, and one end. */
export class Calls {
  #parts: CallParts
  #calls = new Map<string, Kept>()

  constructor(parts: CallParts) {
    this.#parts = parts
  }

  /** Whether a tool is running. */
  get open(): boolean {
    return [...this.#calls.values()].some(({ told, over }) => told && !over)
  }

  async hear(update: ToolCall | ToolCallUpdate): Promise<void> {
    const call = this.#known(update)
    if (call.over) return
    const over = call.status === 'completed' || call.status === 'failed'
    if (over || call.status === 'in_progress' || saysWhat(call.rawInput)) await this.#tell(call)
    if (over) return this.#end(call)
    if (call.told && update.content) await this.#progress(call)
  }

  /** Emits a call that needs permission, so that the call is recorded before the answer. */
  async asked(update: ToolCallUpdate): Promise<Call> {
    const call = this.#known(update)
    await this.#tell(call)
    return call
  }

  /** Ends a refused call: it does not run, and most agents never report a result for it. */
  async refuse(id: string): Promise<void> {
    const call = this.#calls.get(id)
    if (!call || call.over) return
    call.over = true
    await this.#parts.emit({ type: 'result', call: id, ok: false, text: 'not allowed' })
  }

  #known(update: ToolCall | ToolCallUpdate): Kept {
    const { toolCallId: id, ...said } = update
    const known = this.#calls.get(id) ?? { id, told: false, over: false, shown: '', diffs: [] }
    // A field keeps its value if an update leaves it out.
    for (const [key, value] of Object.entries(said))
      if (value !== undefined && value !== null && !(key === 'rawInput' && !saysWhat(value)))
        Object.assign(known, { [key]: value })
    // Some agents show the change when they ask, and not again when it is made.
    const diffs = diffsOf(known.content, this.#parts.cwd)
    if (diffs.length > 0) known.diffs = diffs
    this.#calls.set(id, known)
    return known
  }

  async #tell(call: Kept): Promise<void> {
    if (call.told) return
    call.told = true
    await this.#parts.emit({ type: 'call', call: call.id, tool: toolOf(call), input: inputOf(call, this.#parts.cwd) })
  }

  async #progress(call: Kept): Promise<void> {
    const text = this.#text(call.content)
    const delta = text.startsWith(call.shown) ? text.slice(call.shown.length) : text
    call.shown = text
    if (delta !== '') await this.#parts.emit({ type: 'progress', call: call.id, delta })
  }

  async #end(call: Kept): Promise<void> {
    call.over = true
    const ok = call.status === 'completed'
    const text = this.#text(call.content) || rawText(call.rawOutput)
    const data = ok && call.diffs.length > 0 ? call.diffs : undefined
    await this.#parts.emit(defined({ type: 'result', call: call.id, ok, text, data }))
  }

  #text(content: readonly ToolCallContent[] = []): string {
    const texts = content.map((one) => {
      if (one.type === 'terminal') return this.#parts.printed(one.terminalId)
      return one.type === 'content' && one.content.type === 'text' ? one.content.text : ''
    })
    return stripAnsi(texts.filter((text) => text !== '').join('\n'))
  }
}

export function toolOf({ name, kind }: Call): string {
  return name ?? (kind && kind !== 'other' ? kind : 'tool')
}

/** The input of the call if the agent supplies it, otherwise an input built from the call's title and locations. */
export function inputOf(call: Call, cwd: string): unknown {
  if (saysWhat(call.rawInput)) return call.rawInput
  if (call.kind === 'execute') return { command: call.title }
  const path = call.locations?.[0]?.path
  return path === undefined ? { title: call.title } : { path: shortPath(path, cwd) }
}

/** The command line of a call that runs one. */
export function commandOf(call: Call): string | undefined {
  if (call.kind !== 'execute') return undefined
  const { command } = (call.rawInput ?? {}) as { command?: unknown }
  return typeof command === 'string' ? command : call.title
}

export function diffsOf(content: readonly ToolCallContent[] | undefined, cwd: string): FileChange[] {
  return (content ?? []).flatMap((one) => {
    if (one.type !== 'diff') return []
    // For a file that did not exist, the CLIs send an empty old text.
    const before = one.oldText || undefined
    return [defined({ path: shortPath(one.path, cwd), before, after: one.newText })]
  })
}

/** Whether an input describes the call; a working folder alone does not. */
function saysWhat(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return input !== undefined && input !== null
  return Object.keys(input).some((key) => key !== 'cwd')
}

function rawText(output: unknown): string {
  if (typeof output === 'string') return stripAnsi(output)
  const { output: printed, content, text, message } = (output ?? {}) as Record<string, unknown>
  const found = [printed, content, text, message].find((value) => typeof value === 'string')
  return stripAnsi(found ?? '')
}
