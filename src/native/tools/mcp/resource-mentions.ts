import type { Clock } from '../../../base/time/clock.ts'
import type { ListedTemplate } from './server-catalog.ts'
import type { McpServer } from './remote-server.ts'
import { defined } from '../../../base/defined.ts'

/**
 * A resource that can be written after an `@`, as `server:uri`. `open`: the beginning of a template's address, up to its first variable,
 * whose value the person types.
 */
export type ResourceMention = { mention: string; help?: string; open?: string }

/** How long to wait for a list that is being read; a later one is available for the next keystroke. */
const patienceMs = 150

/** The resources of the connected servers that match the text after the `@`, as far as their lists arrive within a moment. */
export async function resourceMentions(
  servers: readonly McpServer[],
  typed: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<ResourceMention[]> {
  const offering = servers.filter((server) => server.offers('resources'))
  const read = offering.flatMap((server) => [server.list('resources'), server.list('templates')])
  const over = new AbortController()
  await Promise.race([Promise.allSettled(read), clock.sleep(patienceMs, AbortSignal.any([signal, over.signal]))])
  over.abort()
  const suggested = await Promise.all(offering.map((server) => suggestedUris(server, typed, clock, signal)))
  const listed = offering.flatMap((server) => {
    const { name } = server.config
    const resources = (server.known('resources') ?? []).map(({ uri, name: title, description }) =>
      defined({ mention: `${name}:${uri}`, help: helpOf(title, description, uri) }),
    )
    const templates = (server.known('templates') ?? []).map(({ template, name: title, description }) =>
      defined({
        mention: `${name}:${template}`,
        help: helpOf(title, description, template),
        open: `${name}:${literalStart(template)}`,
      }),
    )
    return [...resources, ...templates]
  })
  return [...suggested.flat(), ...listed]
}

function helpOf(title: string, description: string | undefined, uri: string): string | undefined {
  const words = [title === uri ? undefined : title, description].filter((text) => text !== undefined)
  return words.length > 0 ? words.join(': ') : undefined
}

/** The addresses that the server suggests for the template that the person is filling in. */
async function suggestedUris(
  server: McpServer,
  typed: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<ResourceMention[]> {
  const prefix = `${server.config.name}:`
  if (!typed.startsWith(prefix)) return []
  for (const { template, description } of server.known('templates') ?? []) {
    const filling = fillingOf(template, typed.slice(prefix.length))
    if (!filling) continue
    const { variable, value, others, before, after, more } = filling
    const over = new AbortController()
    const asked = server.suggest(
      { ref: { type: 'ref/resource', uri: template }, argument: { name: variable, value }, others },
      AbortSignal.any([signal, over.signal]),
    )
    // If a server has no suggestions or is slow, the person types the value.
    const values = await Promise.race([asked.catch(() => []), clock.sleep(2 * patienceMs, over.signal).then(() => [])])
    over.abort()
    return values.map((one) => {
      const mention = `${prefix}${before}${one}${after}`
      return defined({ mention, help: description, open: more ? mention : undefined })
    })
  }
  return []
}

/**
 * The variable of a template that the person is typing: `before` and `after` surround its value, `more` means that further variables
 * follow.
 */
type Filling = {
  variable: string
  value: string
  others: Record<string, string>
  before: string
  after: string
  more: boolean
}

const variable = /\{\+?(\w+)\}/g

/** Finds the variable that the person is typing in an address; undefined if the address does not belong to the template. */
export function fillingOf(template: ListedTemplate['template'], typed: string): Filling | undefined {
  // Lists and queries, such as {?page}, are not filled in step by step.
  if (/\{[^}]*[^}\w+][^}]*\}/.test(template)) return undefined
  const names = [...template.matchAll(variable)].map(([, name]) => name!)
  const texts = template.split(/\{\+?\w+\}/)
  if (names.length === 0 || !typed.startsWith(texts[0]!)) return undefined
  const others: Record<string, string> = {}
  let rest = typed.slice(texts[0]!.length)
  for (const [at, name] of names.entries()) {
    const after = texts[at + 1]!
    const end = after === '' ? -1 : rest.indexOf(after)
    if (end > 0 && at + 1 < names.length) {
      others[name] = rest.slice(0, end)
      rest = rest.slice(end + after.length)
      continue
    }
    const before = typed.slice(0, typed.length - rest.length)
    return { variable: name, value: rest, others, before, after, more: at + 1 < names.length }
  }
  return undefined
}

const literalStart = (template: string) =>
  template.slice(0, template.indexOf('{') < 0 ? undefined : template.indexOf('{'))
