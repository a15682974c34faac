import type { Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/client'
import type { Connection } from './mcp-connection.ts'
import { terminalText } from '../../../base/text/ansi.ts'
import { defined } from '../../../base/defined.ts'
import { oneLine } from '../../../base/text/table.ts'
import { never } from './activity-timeout.ts'

/** A resource in a server's list. `uri` is the exact address for the server; the other texts are shortened and cleaned. */
type ListedResource = { uri: string; name: string; description?: string; media?: string; size?: number }

/** A group of resources whose address has variables, such as `log://{day}`. */
export type ListedTemplate = { template: string; name: string; description?: string }

export type PromptArgument = { name: string; description?: string; required?: true }

export type ListedPrompt = { name: string; description?: string; arguments: PromptArgument[] }

/** The lists of a server other than its tools. */
export type Catalog = { resources: ListedResource[]; templates: ListedTemplate[]; prompts: ListedPrompt[] }

export type CatalogKind = keyof Catalog

/** A server may have any number of pages and items: the rest of a longer list is not read. */
const mostPages = 50
export const mostItems = 5_000

/** Whether a server has lists of this kind at all. */
export function hasKind({ client }: Connection, kind: CatalogKind): boolean {
  const offered = client.getServerCapabilities()
  return Boolean(kind === 'prompts' ? offered?.prompts : offered?.resources)
}

/** Reads one list of a server, page by page. Items that cannot be typed or shown are left out. */
export async function readList<K extends CatalogKind>(
  connection: Connection,
  kind: K,
  signal: AbortSignal,
): Promise<Catalog[K]> {
  if (!hasKind(connection, kind)) return []
  const items = new Map<string, Catalog[K][number]>()
  let cursor: string | undefined
  for (let page = 0; page < mostPages && items.size < mostItems; page++) {
    const { list, next } = await readPage(connection, kind, cursor, signal)
    for (const item of list.slice(0, mostItems - items.size)) {
      const known = itemOf(kind, item)
      if (known) items.set(keyOf(known), known)
    }
    // A server that returns the same cursor again would never finish.
    if (next === undefined || next === '' || next === cursor) break
    cursor = next
  }
  return [...items.values()] as Catalog[K]
}

type Page = { list: unknown[]; next: string | undefined }

async function readPage(
  { client }: Connection,
  kind: CatalogKind,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page> {
  const params = cursor === undefined ? {} : { cursor }
  const options = { signal, timeout: never }
  switch (kind) {
    case 'resources': {
      const { resources, nextCursor } = await client.request({ method: 'resources/list', params }, options)
      return { list: resources, next: nextCursor }
    }
    case 'templates': {
      const { resourceTemplates, nextCursor } = await client.request(
        { method: 'resources/templates/list', params },
        options,
      )
      return { list: resourceTemplates, next: nextCursor }
    }
    case 'prompts': {
      const { prompts, nextCursor } = await client.request({ method: 'prompts/list', params }, options)
      return { list: prompts, next: nextCursor }
    }
  }
}

function itemOf(kind: CatalogKind, item: unknown): Catalog[CatalogKind][number] | undefined {
  if (kind === 'resources') return resourceOf(item as Resource)
  return kind === 'templates' ? templateOf(item as ResourceTemplateType) : promptOf(item as Prompt)
}

const keyOf = (item: Catalog[CatalogKind][number]) =>
  'uri' in item ? item.uri : 'template' in item ? item.template : item.name

function resourceOf({ uri, name, title, description, mimeType, size }: Resource): ListedResource | undefined {
  if (!isTypable(uri)) return undefined
  return defined({
    uri,
    name: catalogText(title ?? name, 100) ?? uri,
    description: catalogText(description, 300),
    media: catalogText(mimeType, 100),
    size,
  })
}

function templateOf({ uriTemplate, name, title, description }: ResourceTemplateType): ListedTemplate | undefined {
  if (!isTypable(uriTemplate)) return undefined
  return defined({
    template: uriTemplate,
    name: catalogText(title ?? name, 100) ?? uriTemplate,
    description: catalogText(description, 300),
  })
}

/** A prompt with more arguments than this is not offered, because nobody could type them. */
const mostArguments = 30

function promptOf({ name, title, description, arguments: given = [] }: Prompt): ListedPrompt | undefined {
  if (!isTypable(name, 100) || given.length > mostArguments) return undefined
  if (!given.every((one) => isTypable(one.name, 100))) return undefined
  return defined({
    name,
    description: catalogText(description ?? title, 300),
    arguments: given.map((one) =>
      defined({
        name: one.name,
        description: catalogText(one.description, 300),
        required: one.required === true ? (true as const) : undefined,
      }),
    ),
  })
}

/** Whether a person could type this text into one line: it is neither empty nor too long, and has no control characters. */
function isTypable(text: string, longest = 2_000): boolean {
  return text !== '' && text.length <= longest && terminalText(text) === text && !/[\n\r\t]/.test(text)
}

/** A server's text for a screen: one line, without control sequences, cut if it is long; undefined if nothing is left. */
function catalogText(text: string | undefined, longest: number): string | undefined {
  return text === undefined ? undefined : oneLine(terminalText(text.slice(0, 10 * longest)), longest) || undefined
}
