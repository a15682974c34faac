import type { CommandTerms, Turn } from '../../core/work/agent.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { App } from '../../turn/app.ts'
import type { FileCommand } from './command-files.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { drain } from '../../base/relay.ts'
import { noBudget } from '../../core/work/budget.ts'
import { isForbidden } from '../../core/work/perform.ts'
import { attribute, tag } from '../../core/talk/transcript.ts'
import { UsageError } from '../../core/io.ts'
import { leashOf, nativeAgents } from '../../settings/enabled-agents.ts'
import { exit } from '../../core/exit-codes.ts'
import { CommandText } from './command-text.ts'

/** A prompt made from a command's file, and the terms of its turn. */
export type CommandPrompt = { prompt: string; terms: CommandTerms }

/** The person who typed a command: `ask` asks them a question, `say` shows them a message. */
export type CommandCaller = { ask: Ask; signal: AbortSignal; say(words: string): void }

/** The most command lines of one command: more than any real command has. */
const mostShells = 20

/**
 * Makes the prompt of a command. Its command lines run under the rules of termaite's own agent: behind the wall, or after a yes; if
 * nobody can be asked, only if a rule allows it. Throws a UsageError if one of them may not run: then nothing is sent.
 */
export async function commandPrompt(
  app: App,
  command: FileCommand,
  typed: string,
  caller: CommandCaller,
): Promise<CommandPrompt> {
  const { name, body, format, names, from, tools, model } = command
  const terms: CommandTerms = defined({ command: name, from, tools, model })
  const text = new CommandText(body, format, names)
  const shells = text.pieces.filter((piece) => 'shell' in piece).length
  if (shells > mostShells) throw new UsageError(`/${name} has ${shells} command lines; at most ${mostShells} are run.`)
  const parts: string[] = []
  for (const piece of text.pieces) {
    if ('text' in piece) parts.push(text.filledText(piece.text, typed))
    else if ('file' in piece) parts.push(reference(text.filledText(piece.file, typed)))
    else parts.push(await outputOf(app, text.filledShell(piece.shell, typed), command, terms, caller))
  }
  const rest = text.hasPlaceFor(typed) ? '' : typed.trim()
  return { prompt: [parts.join(''), ...(rest === '' ? [] : [rest])].join('\n\n'), terms }
}

/** The mention that attaches a file to a prompt. */
const reference = (path: string) => (/\s/.test(path) ? `@"${path}"` : `@${path}`)

/** Runs one command line of a command, and returns its output for the prompt. */
async function outputOf(
  app: App,
  line: string,
  { name, place: file }: FileCommand,
  terms: CommandTerms,
  { ask, signal, say }: CommandCaller,
): Promise<string> {
  const { frameworkTools } = await import('../../think/turn/framework-tools.ts')
  const { io, place, settings, leash } = app
  const [own] = nativeAgents(settings)
  const turn: Turn = {
    id: newId(io.clock.now()),
    prompt: `/${name}`,
    history: [],
    attempts: [],
    steered: [],
    cwd: place.cwd,
    leash: leashOf(settings, own, { leash }),
    signal,
    clock: io.clock,
    ask: (question, withdrawn, id) =>
      ask({ ...question, text: `/${name} (${file}) wants to run a command.\n${question.text}` }, withdrawn, id),
    budget: noBudget,
    steer: async () => [],
    terms,
  }
  say(`/${name} needs the output of ${line}`)
  const result = await drain(frameworkTools(app).use('bash', { command: line }, turn))
  if (signal.aborted) throw new UsageError(`/${name} was cancelled, and nothing was sent.`)
  if (isForbidden(result))
    throw new UsageError(
      `/${name} was not sent, because its command line ${line} did not run. ${reason(result.text)}`,
      exit.refused,
    )
  const output = result.text.trim()
  // One plain line fits into a sentence; anything else is tagged, so that it is read as output and its @ attaches nothing.
  if (!/[\n@<`]/.test(output) && output.length <= 200) return output
  return `\n${tag('output', ` command="${attribute(line)}"`, output)}\n`
}

/** Why a call was refused, without the advice for a model. */
function reason(text: string): string {
  return text.replace(/ (?:Do not try it again in this turn|Go on without it, or say what you need and why)\.$/, '')
}
