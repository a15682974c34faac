import type { ToolCall, ToolOutput } from '../../../core/work/tool.ts'
import type { ShellParts } from '../shell/shell-command.ts'
import { RunLimit, plainly } from '../shell/shell-command.ts'
import { CommandOutput, tooMuch } from '../shell/command-output.ts'
import { Interpreter, wallsOf } from './repl-interpreter.ts'
import { nodeProgram } from '../../../base/process/own-program.ts'
import { sourceText } from '../../../base/source-text.ts'
import { defined } from '../../../base/defined.ts'
import { quotedWord } from '../../../base/text/shell-word.ts'

export const mostSeconds = 600

type CodePiece = { code: string; seconds: number; fresh: boolean; outside: boolean }

/** The result of a piece of code: `stopped` says why we ended the interpreter, `gone` how it ended by itself. */
type Ran = { begun: boolean; text: string; exit?: number | string; stopped?: string; gone?: string }

/** One language in one folder. Definitions are available to the next piece of code, as long as the interpreter lives. */
export class ReplSession {
  #language: Language
  #parts: ShellParts
  #command: string
  #now: Interpreter | undefined
  /** The reason why the last interpreter and its definitions are gone, until the model has received it. */
  #lost: string | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(language: Language, parts: ShellParts) {
    this.#language = language
    this.#parts = parts
    this.#command = interpreterOf(language)
  }

  /** Evaluates pieces of code in the order of their calls. */
  evaluate(piece: CodePiece, call: ToolCall): Promise<ToolOutput> {
    const output = this.#last.then(() => this.#evaluate(piece, call))
    this.#last = output.catch(() => {})
    return output
  }

  close(): Promise<void> {
    return this.#leave()
  }

  async #leave(why?: string): Promise<void> {
    await this.#now?.run.end()
    await this.#now?.settled
    this.#now = undefined
    this.#lost = why
  }

  async #evaluate(piece: CodePiece, call: ToolCall): Promise<ToolOutput> {
    if (call.signal.aborted) throw new Error('cancelled before it ran.')
    if (piece.fresh) await this.#leave()
    const how = (await this.#parts.interpreter?.(this.#command, call, piece.outside)) ?? plainly(this.#command)
    if (this.#now && this.#now.walls !== wallsOf(how)) await this.#leave('its sandbox has changed')
    const known = this.#now
    const lost = this.#lost
    if (known) await how.settle?.()
    this.#now ??= await Interpreter.start(how, call.cwd, this.#parts)
    this.#lost = undefined
    const ran = await this.#run(this.#now, piece, call)
    if (!ran.begun && ran.stopped === undefined) {
      if (!known) throw new Error(`${this.#language} could not be started: ${ran.text.trim() || ran.gone}`)
      // The interpreter exited before the code reached it, so the code has not run yet.
      return this.#evaluate({ ...piece, fresh: false }, call)
    }
    const { text, exit, stopped, gone } = ran
    const lines = [
      lost && `[This is a new interpreter: ${lost}, and all definitions are lost.]`,
      text.replace(/\n$/, ''),
      stopped ?? (gone && `[The interpreter ${gone}: all definitions are lost.]`),
    ]
    return defined({
      text: lines.filter(Boolean).join('\n') || '[no output]',
      data: exit === undefined ? undefined : { exit },
    })
  }

  async #run(interpreter: Interpreter, { code, seconds }: CodePiece, call: ToolCall): Promise<Ran> {
    const printed = new CommandOutput(this.#parts)
    const hold = new RunLimit(interpreter.run, seconds, late(seconds), call, this.#parts.clock)
    const lose = (why: string) => {
      this.#now = undefined
      this.#lost = why
    }
    try {
      const shown = printed.collector(call, () => {
        // This is not awaited, because `release` waits for the end of the run.
        void hold.end(tooMuch)
      })
      const { begun, exit } = await interpreter.evaluate(code, shown)
      const stopped = await hold.release()
      const text = await printed.done()
      if (stopped !== undefined) {
        lose('the last one was stopped')
        return { begun, text, stopped }
      }
      if (exit !== undefined) return { begun, text, exit }
      const own = await interpreter.run.exited
      const gone = own.signal ? `was killed by ${own.signal}` : `exited with code ${own.code}`
      lose(`the last one ${gone}`)
      return { begun, text, exit: own.code ?? own.signal!, gone }
    } catch (error) {
      lose('the last one failed')
      await Promise.all([hold.end('[broken]'), printed.drop()])
      throw error
    } finally {
      await hold.release()
    }
  }
}

const late = (seconds: number) =>
  `[stopped after ${seconds} s; all definitions are lost. Give a longer timeout_seconds (at most ${mostSeconds}).]`

export const languages = ['python', 'node'] as const
type Language = (typeof languages)[number]

/**
 * The command line of an interpreter. Code arrives on a separate file descriptor, so that code which reads standard input finds it empty.
 * The Node that runs termaite is always available.
 */
function interpreterOf(language: Language): string {
  const by = {
    python: () => `python3 -X utf8 -uB -c ${quotedWord(sourceText('native/tools/repl/python.py'))}`,
    node: () => `${nodeProgram().map(quotedWord).join(' ')} -e ${quotedWord(sourceText('native/tools/repl/node.cjs'))}`,
  }
  return `exec 3<&0 </dev/null; exec ${by[language]()}`
}
