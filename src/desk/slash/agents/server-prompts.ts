import type { Ask } from '../../../core/talk/question.ts'
import type { Command } from '../../../core/talk/command.ts'
import type { McpServers, ServedPrompt } from '../../../native/tools/mcp/remote-servers.ts'
import type { PromptArgument } from '../../../native/tools/mcp/server-catalog.ts'
import type { PromptValues } from '../../../turn/attachments/served-prompt.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { missingArguments, promptValues, valuesText } from '../../../turn/attachments/served-prompt.ts'
import { argumentWords, promptCommand } from '../../../native/tools/mcp/server-status.ts'

/**
 * The prompts of MCP servers as commands, `/server:prompt`. The colon distinguishes them from termaite's own commands. A name that is
 * already taken is left out.
 */
export function promptCommands(
  controls: DeskControls,
  servers: McpServers | undefined,
  taken: readonly string[],
): Command[] {
  const found = new Map<string, Command>()
  for (const prompt of servers?.prompts() ?? []) {
    const name = promptCommand(prompt.server, prompt.name)
    if (taken.includes(name) || found.has(name)) continue
    const words = argumentWords(prompt)
    found.set(name, {
      name,
      ...(words === '' ? {} : { words }),
      help: `${prompt.description ?? 'A prompt'} (MCP server ${prompt.server})`,
      complete: (typed) => suggestedValues(prompt, typed, servers!, controls.app().io.clock),
      async run(args, { ask, signal, screen, say }) {
        const values = promptValues(prompt, args)
        const missing = missingArguments(prompt, values)
        for (const argument of missing) {
          const value = await askFor({ prompt, argument, values, servers: servers!, ask, signal }, `/${name}`)
          if (value === undefined) {
            if (!signal.aborted) screen.fill(`/${name} ${args}`.trimEnd())
            return say(`/${name} was not sent: it needs ${missing.map((one) => one.name).join(', ')}.`, 'note')
          }
          values[argument.name] = value
        }
        // The turn gets the prompt from the server, so that the history shows and recalls the typed text.
        controls.send(`/${name} ${missing.length === 0 ? args : valuesText(values)}`.trimEnd())
      },
    })
  }
  return [...found.values()]
}

type ArgumentQuestion = {
  prompt: ServedPrompt
  argument: PromptArgument
  values: PromptValues
  servers: McpServers
  ask: Ask
  signal: AbortSignal
}

const leave = { id: 'termaite:leave', label: 'Do not send the prompt' }

/** A card takes this many options before it has to be scrolled. */
const mostOptions = 8

/** Asks for one argument of a prompt, with the values that its server suggests; undefined if the person leaves the card. */
async function askFor(question: ArgumentQuestion, command: string): Promise<string | undefined> {
  const { prompt, argument, values, servers, ask, signal } = question
  const { name, description } = argument
  const about = {
    ref: { type: 'ref/prompt' as const, name: prompt.name },
    argument: { name, value: '' },
    others: values,
  }
  const suggested = await servers.suggest(prompt.server, about, signal).catch(() => [])
  const picks = await ask(
    {
      about: 'choice',
      text: `${command} needs ${name}${description ? `: ${description}` : ''}`,
      from: [],
      free: true,
      options: [...suggested.slice(0, mostOptions).map((value) => ({ id: value, label: value })), leave],
      escape: leave.id,
    },
    signal,
  )
  const pick = picks?.[0]
  return pick === undefined || pick === leave.id || pick === '' ? undefined : pick
}

const suggestionMs = 1_000

/** The typed text, completed by each value that the server suggests for the argument that is being typed. */
async function suggestedValues(
  prompt: ServedPrompt,
  typed: string,
  servers: McpServers,
  clock: Clock,
): Promise<string[]> {
  const [, before = '', current = ''] = /^([^]*?)((?:[\w.-]+=)?(?:"[^"]*|'[^']*|[^\s"']*))$/.exec(typed) ?? []
  const known = promptValues(prompt, before)
  const [, named, value] = /^([\w.-]+)=["']?([^]*)$/.exec(current) ?? []
  const argument =
    prompt.arguments.find(({ name }) => name === named) ??
    prompt.arguments.find(({ name }) => !Object.hasOwn(known, name))
  if (!argument) return []
  const isNamed = argument.name === named
  const part = isNamed ? value! : current.replace(/^["']/, '')
  const over = new AbortController()
  const suggested = await Promise.race([
    servers
      .suggest(
        prompt.server,
        {
          ref: { type: 'ref/prompt', name: prompt.name },
          argument: { name: argument.name, value: part },
          others: known,
        },
        over.signal,
      )
      .catch(() => []),
    clock.sleep(suggestionMs, over.signal).then(() => []),
  ])
  over.abort()
  const write = (one: string) => (/^[^\s"'\\]+$/.test(one) ? one : `"${one.replaceAll(/["\\]/g, '\\$&')}"`)
  return suggested.map((one) => `${before}${isNamed ? `${named}=` : ''}${write(one)}`)
}
