import type { Ask } from '../../core/talk/question.ts'
import type { FileReference } from '../../core/talk/file-references.ts'
import type { McpServers } from '../../native/tools/mcp/remote-servers.ts'
import type { PersonServers } from '../../native/person-servers.ts'
import type { Picture } from './attached-file.ts'
import { sizeText } from '../../base/picture.ts'
import { pictureOf } from './attached-file.ts'

/** The resource that a reference names, as `@server:uri`. */
export type NamedResource = { server: string; uri: string; end: number }

/**
 * Finds the resource that a reference means; undefined if it names none. Throws if the reference plainly means a server that does not
 * exist.
 */
export async function findNamedResource(
  reference: FileReference,
  servers: PersonServers,
): Promise<NamedResource | undefined> {
  const readings = reference.readings.filter(({ path, lines }) => !lines && path.includes(':'))
  if (readings.length === 0) return undefined
  const names = (await servers.names()).sort((one, other) => other.length - one.length)
  const found = readings.flatMap(({ path, end }): NamedResource[] => {
    const server = names.find((name) => path.startsWith(`${name}:`) && path.length > name.length + 1)
    return server === undefined ? [] : [{ server, uri: path.slice(server.length + 1), end }]
  })
  if (found.length > 0) return found.length === 1 ? found[0] : asListed(found, await servers.open())
  const [, server] = plainResource.exec(readings.at(-1)!.path) ?? []
  if (server !== undefined) throw new Error(await servers.missing(server))
  return undefined
}

/** A server's name before an address with a scheme means a resource, even if that server does not exist. */
const plainResource = /^([^\s:/]+):[a-z][a-z0-9+.-]*:\/\//i

/**
 * Chooses between an address with and without the punctuation behind it: the one that the server lists, else the one without punctuation.
 */
async function asListed(found: readonly NamedResource[], servers: McpServers | undefined): Promise<NamedResource> {
  for (const one of found) if (await servers?.lists(one.server, one.uri)) return one
  return found.at(-1)!
}

/** The attached part of a resource: `cut` says what is missing. */
type ResourcePart = { body: string; pictures: Picture[]; cut?: string }

/** Reads at most `most` bytes of a resource's text. Throws an error that says what to do when it cannot be read. */
export async function readNamedResource(
  { server, uri }: NamedResource,
  servers: PersonServers,
  most: number,
  person: { ask: Ask; signal: AbortSignal },
): Promise<ResourcePart> {
  const open = await servers.open()
  if (!open) throw new Error(await servers.missing(server))
  const {
    text,
    pictures: read,
    whole,
  } = await open.read(server, uri, most, person).catch((error: Error) => {
    if (!/not found|unknown resource|no such/i.test(error.message)) throw error
    throw new Error(
      `${error.message.replace(/\.$/, '')}. Type @${server}: in the chat to see the resources of this server`,
    )
  })
  const pictures = read.flatMap(({ bytes }) => pictureOf(Buffer.from(bytes)) ?? [])
  if (whole === undefined) return { body: text, pictures }
  return { body: text, pictures, cut: `only the first ${sizeText(most)} of ${sizeText(whole)} are attached` }
}

/** The name of the file behind an address, for addresses that name one. */
export function fileNameOf(uri: string): string {
  try {
    return decodeURIComponent(URL.parse(uri)?.pathname ?? uri)
  } catch {
    return uri
  }
}
