import type { Writable } from 'node:stream'
import type { Dialect, Step } from '../../core/profile/profile.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../seat.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Speech } from './speech.ts'
import type { Ask, Question, Shown } from '../../core/talk/question.ts'
import { AnsiStripper, stripAnsi } from '../../base/text/ansi.ts'
import { Lines } from '../../base/text/lines.ts'
import { visibleQuestion } from '../visible-question.ts'
import { handOverTyped } from '../turn-pictures.ts'
import { promises } from 'node:fs'
import { resolve } from 'node:path'
import { shortPath } from '../../base/files/short-path.ts'

type SpeechParts = {
  name: string
  emit: Emit
  turn: Pick<Turn, 'ask' | 'steer' | 'cwd'>
  /** Answers are written here; closed after the CLI's last message. */
  stdin: Writable
  /** Aborts when an answer is no longer needed. */
  withdrawn: AbortSignal
  /** Stores the pictures that a person sends during the turn. */
  blobs: Blobs
  /** The lines of a process that may serve another turn: it is not closed after its last message. */
  lines?: Lines
  /** The steps that were read ahead of the turn. */
  before?: readonly Step[]
}

/** Speech of a CLI with structured output: each line is read by its dialect, and each step is carried out. */
export function dialectSpeech(dialect: Dialect, parts: SpeechParts): Speech {
  const lines = parts.lines ?? new Lines()
  const calls = new Set<string>()
  /** Aborts at the CLI's last message: nothing more is sent to it. */
  const over = new AbortController()
  const strippers = { text: new AnsiStripper(), thought: new AnsiStripper() }
  let speaking: keyof typeof strippers | undefined
  const before = [...(parts.before ?? [])]
  let outcome: Outcome | undefined
  let reply = ''
  let broken = false

  const note = (text: string) => parts.emit({ type: 'note', text })

  const asking = new DialectQuestions({
    ask: parts.turn.ask,
    cwd: parts.turn.cwd,
    stdin: parts.stdin,
    withdrawn: parts.withdrawn,
    failed: (error) => note(`${parts.name} could not be answered: ${error.message}`),
  })

  const read = async (line: string) => {
    try {
      return dialect.line(line)
    } catch {
      if (!broken) await note(`${parts.name} printed a line that could not be read: ${line.slice(0, 200)}`)
      broken = true
      return []
    }
  }

  /** Emits the text that a stripper still buffers, before an event of another kind. */
  const pause = async () => {
    const delta = speaking ? strippers[speaking].end() : ''
    if (speaking && delta !== '') await parts.emit({ type: speaking, delta })
    speaking = undefined
  }

  const close = () => {
    over.abort()
    if (!parts.lines) parts.stdin.end()
  }

  const take = async (step: Step): Promise<void> => {
    if (step.type !== speaking) await pause()
    switch (step.type) {
      case 'ask':
        return asking.ask(step)
      case 'unask':
        return asking.takeBack(step.id)
      case 'send':
        parts.stdin.write(step.text)
        return
      case 'end':
        outcome = step.outcome
        return close()
      case 'reply':
        // The reply is emitted only at the end: until then it may be half an answer.
        reply = step.text
        return
      case 'text':
      case 'thought': {
        speaking = step.type
        const delta = strippers[step.type].push(step.delta)
        return delta === '' ? undefined : parts.emit({ ...step, delta })
      }
      case 'call':
        calls.add(step.call)
        return parts.emit(step)
      case 'result':
        calls.delete(step.call)
        return parts.emit({ ...step, text: stripAnsi(step.text) })
      default:
        return parts.emit(step)
    }
  }

  const takeAll = async (steps: readonly Step[]) => {
    for (const step of steps) await take(step)
  }

  return {
    typed: true,
    open(prompt) {
      // Ends with the turn; the turn does not wait for a person to type.
      void forwardSteering(dialect, parts, AbortSignal.any([parts.withdrawn, over.signal]))
      return { text: dialect.open(prompt.text, prompt.pictures), stays: dialect.asks === true }
    },
    async hear(text) {
      await takeAll(before.splice(0))
      for (const line of lines.push(text)) await takeAll(await read(line))
      if (dialect.over?.()) close()
    },
    stop() {
      const words = dialect.stop?.()
      if (words !== undefined) parts.stdin.write(words)
      return words !== undefined
    },
    over: () => dialect.over?.() ?? false,
    busy: () => calls.size > 0,
    lasting() {
      // Work that goes on after the turn may still change files, which the next turn's snapshots would not show.
      const isIdle = calls.size === 0 && !dialect.works?.()
      return dialect.next && isIdle && !asking.granted ? dialect : undefined
    },
    async finish(ended) {
      // A living process will print the rest of an unfinished line later.
      if (!ended.lives) for (const line of lines.end()) await takeAll(await read(line))
      if (lines.dropped > 0) await note(`${parts.name} printed ${lines.dropped} lines too long to be read`)
      await takeAll(dialect.end(ended))
      await pause()
      return outcome?.ok ? { ...outcome, text: stripAnsi(outcome.text || reply).trim() } : outcome
    },
    drop: async () => {},
  }
}

type Asked = Extract<Step, { type: 'ask' }>

type AskParts = {
  ask: Ask
  cwd: string
  stdin: Writable
  /** Aborts when an answer is no longer needed. */
  withdrawn: AbortSignal
  /** Reports an answer that could not be written. */
  failed(error: Error): Promise<void>
}

/** The questions of one turn: several may be open at once, and each is answered on the CLI's stdin. */
class DialectQuestions {
  #parts: AskParts
  #open = new Set<{ id: string | undefined; back: AbortController }>()
  /** Whether a person gave a yes that lasts for the life of the CLI's process. */
  granted = false

  constructor(parts: AskParts) {
    this.#parts = parts
  }

  /** Asks without waiting: meanwhile the CLI may continue, withdraw the question or end. */
  ask(step: Asked): void {
    const one = { id: step.id, back: new AbortController() }
    this.#open.add(one)
    void this.#answer(step, one.back.signal)
      .catch((error: Error) => this.#parts.failed(error))
      .finally(() => this.#open.delete(one))
  }

  takeBack(id: string): void {
    for (const one of this.#open) if (one.id === id) one.back.abort()
  }

  async #answer({ question, reply }: Asked, back: AbortSignal): Promise<void> {
    const { ask, cwd, stdin, withdrawn } = this.#parts
    const signal = AbortSignal.any([withdrawn, back])
    const picks = await ask(visibleQuestion(await withFileContents(question, cwd)), signal)
    if (signal.aborted) return
    this.granted ||= question.options.some(({ id, grants }) => grants !== undefined && picks?.includes(id))
    stdin.write(reply(picks))
  }
}

/** Sends text typed during the turn to the CLI, until the turn is over or `steer` reports that nobody can type. */
async function forwardSteering(
  dialect: Dialect,
  { name, turn, stdin, blobs, emit }: SpeechParts,
  over: AbortSignal,
): Promise<void> {
  while (dialect.steer && !over.aborted) {
    const typed = await turn.steer(over)
    if (typed.length === 0) return
    // `node:crypto` is loaded only after something was typed: loading it takes longer than all our own code at a start.
    const { randomUUID } = process.getBuiltinModule('node:crypto')
    for (const one of typed) {
      const { text, pictures, notes } = await handOverTyped(one, turn.cwd, { name, takes: dialect.pictures, blobs })
      stdin.write(dialect.steer(text, randomUUID(), pictures))
      for (const note of notes) await emit({ type: 'note', text: note })
    }
  }
}

/** A longer file is not shown in a card. */
const longestBefore = 256 * 1024

/**
 * Adds the current content of a file to a question about overwriting it, so that the person sees the difference. Files of the project get
 * short names.
 */
async function withFileContents(question: Question, cwd: string): Promise<Question> {
  if (!question.shows) return question
  return { ...question, shows: await Promise.all(question.shows.map((shown) => whole(shown, cwd))) }
}

async function whole(told: Shown, cwd: string): Promise<Shown> {
  if (told.type !== 'diff') return told
  const path = resolve(cwd, told.path)
  const shown = { ...told, path: shortPath(path, cwd) }
  if (shown.before !== undefined) return shown
  try {
    const found = await promises.stat(path)
    if (!found.isFile()) return shown
    if (found.size > longestBefore) return { ...shown, before: `[… ${found.size} bytes …]\n` }
    return { ...shown, before: await promises.readFile(path, 'utf8') }
  } catch {
    return shown
  }
}
