import type { ContentBlock, PromptMessage } from '@modelcontextprotocol/client'
import type { Blobs } from '../../core/talk/store.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Exchange } from '../../native/tools/mcp/remote-server.ts'
import type { ListedPrompt } from '../../native/tools/mcp/server-catalog.ts'
import type { McpServers } from '../../native/tools/mcp/remote-servers.ts'
import type { PersonServers } from '../../native/person-servers.ts'
import type { Picture } from './attached-file.ts'
import { resourceBlock, servedPromptText } from '../../core/talk/file-references.ts'
import { tag } from '../../core/talk/transcript.ts'
import { UsageError } from '../../core/io.ts'
import { messageOf } from '../../base/error-message.ts'
import { nearest } from '../../base/text/nearest.ts'
import { argumentWords, promptCommand } from '../../native/tools/mcp/server-status.ts'
import { contentOf } from '../../native/tools/mcp/resource-content.ts'
import { pictureOf } from './attached-file.ts'

/** A prompt of an MCP server that was typed as a command, with what was typed behind it. */
type CalledPrompt = { servers: McpServers; server: string; prompt: ListedPrompt; typed: string }

const called = /^\/([^\s/:]+:[^\s/]+)(?:\s+([^]*))?$/

/**
 * Finds the MCP prompt that a text calls, as `/server:prompt arguments`. Returns undefined if the text names no configured server,
 * because other agents have commands of this form too. Throws if the server has no such prompt or does not answer.
 */
export async function findCalledPrompt(
  text: string,
  mine: PersonServers,
  signal: AbortSignal,
): Promise<CalledPrompt | undefined> {
  const [, command, typed = ''] = called.exec(text.trim()) ?? []
  if (command === undefined) return undefined
  const server = (await mine.names()).find((name) => command.startsWith(promptCommand(name, '')))
  const servers = server === undefined ? undefined : await mine.open()
  if (server === undefined || !servers) return undefined
  const prompts = await servers.promptsOf(server, signal).catch(cannot(command))
  const prompt = prompts.find(({ name }) => promptCommand(server, name) === command)
  if (prompt) return { servers, server, prompt, typed: typed.trim() }
  const names = prompts.map(({ name }) => `/${promptCommand(server, name)}`)
  const meant = nearest(`/${command}`, names)
  const have = names.length === 0 ? 'it has none.' : meant ? `did you mean ${meant}?` : `it has ${names.join(', ')}.`
  throw new UsageError(`the MCP server ${server} has no prompt /${command}; ${have}`)
}

/** Says that a prompt could not be used, and why. */
const cannot = (command: string) => (error: unknown) => {
  throw new UsageError(`/${command} cannot be used: ${messageOf(error).replace(/\.$/, '')}.`, 1)
}

/** The values that were typed for the arguments of a prompt. */
export type PromptValues = Record<string, string>

const word = /(?:([\w.-]+)=)?(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))/g

/**
 * Parses arguments by position or as `name=value`, quoted if they contain spaces. Extra words belong to the last argument, so that a
 * prompt about a topic accepts a whole sentence.
 */
export function promptValues({ arguments: known }: ListedPrompt, typed: string): PromptValues {
  const values: PromptValues = {}
  const loose: string[] = []
  for (const [whole, name, double, single, bare] of typed.matchAll(word)) {
    const value = double?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? bare!
    if (name !== undefined && known.some((one) => one.name === name)) values[name] = value
    else loose.push(name === undefined ? value : whole)
  }
  const free = known.filter(({ name }) => !Object.hasOwn(values, name))
  for (const [at, { name }] of free.entries()) {
    const given = at === free.length - 1 ? loose.slice(at).join(' ') : loose[at]
    if (given !== undefined && given !== '') values[name] = given
  }
  return values
}

/** The required arguments of a prompt that are missing. */
export const missingArguments = ({ arguments: known }: ListedPrompt, values: PromptValues) =>
  known.filter(({ name, required }) => required && !Object.hasOwn(values, name))

/** Writes values so that `promptValues` reads the same ones. */
export function valuesText(values: PromptValues): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${/^[^\s"'\\]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`}`)
    .join(' ')
}

type ServedPromptParts = { blobs: Blobs; clock: Clock; most: number; person: Exchange }

/** Fetches the messages of a prompt as the text of a turn, together with their pictures. */
export async function readCalledPrompt(
  { servers, server, prompt, typed }: CalledPrompt,
  parts: ServedPromptParts,
): Promise<{ prompt: string; pictures: Picture[] }> {
  const command = promptCommand(server, prompt.name)
  const values = promptValues(prompt, typed)
  const missing = missingArguments(prompt, values).map(({ name }) => name)
  if (missing.length > 0)
    throw new UsageError(
      `/${command} needs ${missing.join(' and ')}. Give ${missing.length === 1 ? 'it' : 'them'} as in: /${command} ${argumentWords(prompt)}, or ${missing.map((name) => `${name}="…"`).join(' ')}.`,
    )
  const messages = await servers.prompt(server, prompt.name, values, parts.person).catch(cannot(command))
  const pictures: Picture[] = []
  const body = await messagesText(server, messages, pictures, parts)
  return { prompt: servedPromptText(`${command}${typed === '' ? '' : ` ${typed}`}`, server, body), pictures }
}

/** A prompt with more messages than this is shortened. */
const mostMessages = 200

/** Joins the messages in order. If some are an assistant's, each message is labelled with its author. */
async function messagesText(
  server: string,
  messages: readonly PromptMessage[],
  pictures: Picture[],
  parts: ServedPromptParts,
): Promise<string> {
  const isTalk = messages.some(({ role }) => role !== 'user')
  const texts: string[] = []
  for (const { role, content } of messages.slice(0, mostMessages)) {
    const text = await blockText(server, content, pictures, parts)
    if (text !== '') texts.push(isTalk ? tag('said', ` by="${role}"`, text) : text)
  }
  const { text } = await contentOf([{ uri: '', text: texts.join('\n\n') }], contentParts(parts))
  return text || '(The prompt is empty.)'
}

const contentParts = ({ blobs, clock, most, person }: ServedPromptParts) => ({
  ...{ blobs, clock, most },
  signal: person.signal,
})

async function blockText(
  server: string,
  block: ContentBlock,
  pictures: Picture[],
  parts: ServedPromptParts,
): Promise<string> {
  const blob = async (uri: string, data: string, mimeType: string) => {
    const read = await contentOf([{ uri, blob: data, mimeType }], contentParts(parts))
    pictures.push(...read.pictures.flatMap(({ bytes }) => pictureOf(Buffer.from(bytes)) ?? []))
    return read.text
  }
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return blob('', block.data, block.mimeType)
    case 'resource_link':
      return `[${block.title ?? block.name}: ${server}:${block.uri}]`
    case 'resource': {
      const { resource } = block
      if ('text' in resource) return resourceBlock(server, resource.uri, resource.text)
      const text = await blob(resource.uri, resource.blob, resource.mimeType ?? 'application/octet-stream')
      return text === '' ? '' : resourceBlock(server, resource.uri, text)
    }
    default:
      return `[${(block as { type: string }).type}: not shown]`
  }
}
