import type { Dialect, Ended, Step } from '../../core/profile/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Loose } from '../shared/jsonl.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { extensionSteps } from './pi-questions.ts'
import { PiEvents } from './pi-events.ts'
import { piTerms } from './pi-terms.ts'
import { idOf, loose, numberOf, parseLine, textOf } from '../shared/jsonl.ts'

/**
 * `pi --mode rpc`: commands on stdin, and events and responses on stdout. Text that we send counts as accepted only after pi has
 * reported, following the prompt, whether it works on the text: an extension may consume a prompt, and pi then never reports an end.
 */
export function piDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const events = new PiEvents(signs, known)
  /** The prompts that pi has not started on yet. */
  const open = new Set<string>()
  let thread: string | undefined
  let isWorking = false
  let isOver = false

  const line = (command: Loose) => `${JSON.stringify(command)}\n`

  function prompt(id: string, message: string): string {
    open.add(id)
    // pi adds a prompt to its current work, or starts on it if idle.
    return line({ id, type: 'prompt', message, streamingBehavior: 'steer' })
  }

  function answered({ id, command, success, error, data }: Loose): Step[] {
    if (command === 'get_state') return state(idOf(id), loose(data))
    if (command !== 'prompt') return []
    if (success === true) return [{ type: 'send', text: line({ id, type: 'get_state' }) }]
    open.delete(idOf(id))
    // The lines below the first paragraph explain how to continue in pi itself.
    events.fail(textOf(error)?.split('\n\n')[0] ?? 'it refused the prompt')
    isOver ||= !isWorking
    return []
  }

  function state(id: string, { sessionId, isStreaming, pendingMessageCount }: Loose): Step[] {
    if (open.delete(id)) {
      if (isStreaming === true) isWorking = true
      isOver = !isWorking && numberOf(pendingMessageCount) === 0
    }
    const key = textOf(sessionId)
    if (key === undefined || key === thread) return []
    thread = key
    return [{ type: 'thread', key }]
  }

  return {
    asks: true,
    open: (text) => line({ id: 'state', type: 'get_state' }) + prompt('prompt', text),
    line(text) {
      const event = parseLine(text)
      switch (event.type) {
        case 'response':
          return answered(event)
        case 'extension_ui_request':
          return extensionSteps(event)
        case 'agent_start':
          isWorking = true
          return []
        case 'agent_settled':
          isWorking = false
          isOver = true
          return []
        default:
          return events.read(event)
      }
    },
    over: () => isOver && open.size === 0,
    steer: (text, id) => prompt(id, text),
    // Without the first command, pi would continue with the texts typed meanwhile.
    stop: () => (thread === undefined ? undefined : line({ type: 'clear_queue' }) + line({ type: 'abort' })),
    end: (ended) => events.end(ended),
    next: () => piDialect(signs, known),
    change: piTerms,
    knock: {
      text: line({ id: 'knock', type: 'get_state' }),
      isAnswer: (text) => parseLine(text).id === 'knock',
    },
  }
}

/** `pi -p --mode json`, which a person may have set as a command. pi always exits with 0, so its messages decide. */
export function piOneWayDialect(signs: readonly Sign[], known: (ended: Ended) => Failure | undefined): Dialect {
  const events = new PiEvents(signs, known)
  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      if (event.type !== 'session') return events.read(event)
      return typeof event.id === 'string' ? [{ type: 'thread', key: event.id }] : []
    },
    end: (ended) => events.end(ended),
  }
}
