import type { CommandTerms, Turn } from '../../core/work/agent.ts'
import type { Ask } from '../../core/talk/question.ts'
import type { App } from '../app.ts'
import type { FileCommand } from './command-files.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { drain } from '../../base/relay.ts'
import { tighter } from '../../core/work/agent.ts'
import { noBudget } from '../../core/work/budget.ts'
import { isForbidden } from '../../core/work/perform.ts'
import { attribute, tag } from '../../core/talk/transcript.ts'
import { UsageError } from '../../core/io.ts'
import { quoted } from '../../safety/shell/simple-command.ts'
import { nativeAgents } from '../../settings/enabled-agents.ts'
import { exit } from '../../core/exit-codes.ts'

/** A prompt that a command's file has become, and the terms of its turn. */
export type CommandPrompt = { prompt: string; terms: CommandTerms }

/** The person who typed a command: `ask` asks them, `say` tells them something. */
export type CommandCaller = { ask: Ask; signal: AbortSignal; say(words: string): void }

/** A part of a command's text: plain text, or a command line whose output stands in its place. */
type Piece = { text: string } | { shell: string }

/** Command lines are written as !`…`, or as a block that begins with ```!, as in Claude Code and OpenCode. */
const inline = /(?<![^\s([{:"'])!`([^`\n]+)`|^```![^\S\n]*\n([^]*?)\n```[^\S\n]*$/gm

/** More command lines than any real command has. */
const mostShells = 20

/** Splits a text into its pieces. It is split before anything is filled in, so that no argument can add a command line. */
export function piecesOf(body: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const match of body.matchAll(inline)) {
    pieces.push({ text: body.slice(at, match.index) }, { shell: (match[1] ?? match[2])!.trim() })
    at = match.index + match[0].length
  }
  return [...pieces, { text: body.slice(at) }]
}

const word = /"([^"]*)"|'([^']*)'|(\S+)/g
const place = /\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g
const placeHere = new RegExp(`^${place.source}`)

/** The words of what was typed after a command; quotes hold a word together. */
const wordsOf = (typed: string) =>
  [...typed.trim().matchAll(word)].map(([, double, single, bare]) => double ?? single ?? bare!)

/** Fills the arguments into the places of a text. */
function filledText(text: string, typed: string): string {
  const words = wordsOf(typed)
  return text.replaceAll(place, (_whole, all, number) => (all ? typed.trim() : (words[Number(number) - 1] ?? '')))
}

/** Fills the arguments into a command line, so that each of them stays a word, or a part of one, whatever is typed. */
export function filledShell(line: string, typed: string): string {
  const words = wordsOf(typed)
  let quote = ''
  let filled = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    const [whole, all, number] = placeHere.exec(line.slice(at)) ?? []
    if (whole !== undefined) {
      const values = all ? words : [words[Number(number) - 1] ?? '']
      filled += quote === '' ? values.map(quoted).join(' ') : within(values.join(' '), quote)
      at += whole.length - 1
      continue
    }
    filled += char
    if (char === '\\' && quote !== "'") filled += line[++at] ?? ''
    else if (quote === char) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) quote = char
  }
  return filled
}

/** A text inside quotes of a command line. */
const within = (text: string, quote: string) =>
  quote === '"' ? text.replaceAll(/["\\$`]/g, '\\$&') : text.replaceAll("'", "'\\''")

/** Fills the arguments into a text without command lines; without any place for them they follow the text. */
export function filled(body: string, typed: string): string {
  const args = typed.trim()
  if (body.search(place) < 0) return args === '' ? body : `${body}\n\n${args}`
  return filledText(body, typed)
}

/**
 * Makes the prompt of a command. Its command lines run under the rules of termaite's own agent: behind the wall, or after a yes;
 * with nobody to ask only where a rule allows it. Throws a UsageError when one of them may not run: nothing is sent then.
 */
export async function commandPrompt(
  app: App,
  command: FileCommand,
  typed: string,
  caller: CommandCaller,
): Promise<CommandPrompt> {
  const { name, body, from, tools, model } = command
  const terms: CommandTerms = defined({ command: name, from, tools, model })
  const pieces = piecesOf(body)
  const shells = pieces.filter((piece) => 'shell' in piece)
  if (shells.length === 0) return { prompt: filled(body, typed), terms }
  if (shells.length > mostShells)
    throw new UsageError(`/${name} has ${shells.length} command lines; at most ${mostShells} are run.`)
  const texts: string[] = []
  for (const piece of pieces) {
    if ('text' in piece) texts.push(filledText(piece.text, typed))
    else texts.push(await outputOf(app, filledShell(piece.shell, typed), command, terms, caller))
  }
  const placed = body.search(place) >= 0 || typed.trim() === ''
  return { prompt: [texts.join(''), ...(placed ? [] : [typed.trim()])].join('\n\n'), terms }
}

/** Runs one command line of a command, and returns its output for the prompt. */
async function outputOf(
  app: App,
  line: string,
  { name, place: file }: FileCommand,
  terms: CommandTerms,
  { ask, signal, say }: CommandCaller,
): Promise<string> {
  const { frameworkTools } = await import('../thinking/framework-tools.ts')
  const { io, place, settings, leash } = app
  const [own] = nativeAgents(settings)
  const turn: Turn = {
    id: newId(io.clock.now()),
    prompt: `/${name}`,
    history: [],
    attempts: [],
    steered: [],
    cwd: place.cwd,
    leash: tighter(own?.leash ?? settings.leash, leash),
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
  // One plain line fits into a sentence; anything else is marked, so that it is read as output and its @ attaches nothing.
  if (!/[\n@<`]/.test(output) && output.length <= 200) return output
  return `\n${tag('output', ` command="${attribute(line)}"`, output)}\n`
}

/** Why a call was refused, without the advice for a model. */
function reason(text: string): string {
  return text.replace(/ (?:Do not try it again in this turn|Go on without it, or say what you need and why)\.$/, '')
}
