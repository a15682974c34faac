import type { ToolCall, ToolOutput } from '../../core/work/tool.ts'
import type { ShellParts } from '../shell/shell-command.ts'
import { Hold, shellOf } from '../shell/shell-command.ts'
import { Printed, tooMuch } from '../shell/command-output.ts'
import { Interpreter } from './repl-interpreter.ts'
import { sourceText } from '../../base/source-text.ts'

export const mostSeconds = 600

export type Piece = { code: string; seconds: number; fresh: boolean }

/** What came of a piece: `stopped` says why we ended the interpreter, `gone` how it came to its own end. */
type Ran = { begun: boolean; text: string; exit?: number | string; stopped?: string; gone?: string }

/** One language in one folder: what a piece of code defines is there for the next, as long as its interpreter lives. */
export class Repl {
  #language: Language
  #parts: ShellParts
  #command: string
  #now: Interpreter | undefined
  /** Why the one before is gone with all that was defined, until that was said. */
  #lost: string | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(language: Language, parts: ShellParts) {
    this.#language = language
    this.#parts = parts
    this.#command = interpreterOf(language)
  }

  /** One piece after another, whoever sends them. */
  evaluate(piece: Piece, call: ToolCall): Promise<ToolOutput> {
    const output = this.#last.then(() => this.#evaluate(piece, call))
    this.#last = output.catch(() => {})
    return output
  }

  close(): Promise<void> {
    return this.#leave()
  }

  async #leave(why?: string): Promise<void> {
    await this.#now?.run.end()
    this.#now = undefined
    this.#lost = why
  }

  async #evaluate(piece: Piece, call: ToolCall): Promise<ToolOutput> {
    if (call.signal.aborted) throw new Error('cancelled before it ran.')
    if (piece.fresh) await this.#leave()
    const walls = await shellOf(this.#command, this.#parts)
    if (this.#now && !isSame(this.#now.walls, walls)) await this.#leave('other walls hold it now')
    const known = this.#now
    const lost = this.#lost
    this.#now ??= await Interpreter.start(walls, call.cwd, this.#parts)
    this.#lost = undefined
    const ran = await this.#run(this.#now, piece, call)
    if (!ran.begun && ran.stopped === undefined) {
      if (!known) throw new Error(`${this.#language} could not be started: ${ran.text.trim() || ran.gone}`)
      // It was gone before the code reached it, so that this has run nowhere yet.
      return this.#evaluate({ ...piece, fresh: false }, call)
    }
    const { text, exit, stopped, gone } = ran
    const lines = [
      lost && `[a new interpreter: ${lost}, and all that was defined is gone]`,
      text.replace(/\n$/, ''),
      stopped ?? (gone && `[the interpreter ${gone}: all that was defined is gone]`),
    ]
    return {
      text: lines.filter(Boolean).join('\n') || '[no output]',
      ...(exit === undefined ? {} : { data: { exit } }),
    }
  }

  async #run(interpreter: Interpreter, { code, seconds }: Piece, call: ToolCall): Promise<Ran> {
    const printed = new Printed(this.#parts)
    const hold = new Hold(interpreter.run, seconds, late(seconds), call, this.#parts.clock)
    const lose = (why: string) => {
      this.#now = undefined
      this.#lost = why
    }
    try {
      const shown = printed.shown(call, () => void hold.end(tooMuch))
      const { begun, exit } = await interpreter.evaluate(code, shown)
      const stopped = await hold.release()
      const text = await printed.done()
      if (stopped !== undefined) {
        lose('the one before was ended')
        return { begun, text, stopped }
      }
      if (exit !== undefined) return { begun, text, exit }
      const own = await interpreter.run.exited
      const gone = own.signal ? `was ended by ${own.signal}` : `ended itself with exit code ${own.code}`
      lose(`the one before ${gone}`)
      return { begun, text, exit: own.code ?? own.signal!, gone }
    } catch (error) {
      lose('the one before broke')
      await Promise.all([hold.end('[broken]'), printed.drop()])
      throw error
    } finally {
      await hold.release()
    }
  }
}

const isSame = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((word, at) => word === other[at])

const late = (seconds: number) =>
  `[ended after ${seconds} s, and all that was defined is gone. Give it a longer timeout_seconds (up to ${mostSeconds}).]`

export const languages = ['python', 'node'] as const
export type Language = (typeof languages)[number]

/**
 * The command line of an interpreter. Its code comes by a descriptor of its own, so that code which reads its input
 * finds nothing there; Node is the one that we run on, which is always there.
 */
export function interpreterOf(language: Language): string {
  const by = {
    python: () => `python3 -X utf8 -uB -c ${quoted(sourceText('tools/repl/python.py'))}`,
    node: () => `${quoted(process.execPath)} -e ${quoted(sourceText('tools/repl/node.cjs'))}`,
  }
  return `exec 3<&0 </dev/null; exec ${by[language]()}`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
