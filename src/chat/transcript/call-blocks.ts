import type { EntryOf, Event } from '../../core/talk/entry.ts'
import type { Block, CallBlock, NewBlock } from './block.ts'
import type { Blocks, EventPlace } from './block-list.ts'
import { defined } from '../../base/defined.ts'
import { isOwnQuestion } from './block.ts'
import { append, changed, held, isCall, replaced } from './block-list.ts'
import { fileChangesOf } from './event-facts.ts'

/** Characters of the output of a running call that are held. */
const longestOutput = 20_000

/** The blocks after a call began, or after the call was reported again with its whole input. */
export function called(blocks: Blocks, event: Extract<Event, { type: 'call' }>, place: EventPlace): Blocks {
  const { call, tool, input } = event
  const at = blocks.findLastIndex(isCall(call))
  const known = blocks[at]
  if (known?.type === 'call') return replaced(blocks, at, { ...known, tool, input })
  const begun: NewBlock = {
    type: 'call',
    call,
    tool,
    input,
    state: 'running',
    since: place.at,
    output: '',
    changes: [],
  }
  // The question about a call may arrive before the call itself, but it is shown below the call.
  const asked = (block: Block) => block.type === 'question' && block.state === 'open' && isOwnQuestion(block)
  const to = blocks.findLastIndex((block) => !asked(block)) + 1
  return [...append(blocks.slice(0, to), begun, event, place), ...blocks.slice(to)]
}

/** The blocks after a running call printed something. */
export function withProgress(blocks: Blocks, { call, delta }: Extract<Event, { type: 'progress' }>): Blocks {
  return changed(blocks, isCall(call), (block) => {
    const running = block as CallBlock
    return { ...running, output: (running.output + delta).slice(-longestOutput) }
  })
}

/** A call with its result. */
export function withResult(
  call: CallBlock,
  result: Pick<EntryOf<'result'>, 'ok' | 'text' | 'data'>,
  at: number,
): CallBlock {
  return {
    ...call,
    state: result.ok && (exitOf(result.data) ?? 0) === 0 ? 'ok' : 'failed',
    ...defined({ exit: exitOf(result.data), errors: errorsOf(result.data) }),
    ms: Math.max(0, at - call.since),
    output: held(result.text).text,
    changes: fileChangesOf(result.data),
  }
}

/** The exit code of a command, or the signal that killed it. A command that ran and failed is a failure, although its tool succeeded. */
function exitOf(data: unknown): number | string | undefined {
  const exit = typeof data === 'object' && data !== null && 'exit' in data ? data.exit : undefined
  return typeof exit === 'number' || typeof exit === 'string' ? exit : undefined
}

/** The number of errors that a language server reported after the call. */
function errorsOf(data: unknown): number | undefined {
  const errors = typeof data === 'object' && data !== null && 'errors' in data ? data.errors : undefined
  return typeof errors === 'number' ? errors : undefined
}
