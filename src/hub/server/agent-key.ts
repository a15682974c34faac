import type { Clock } from '../../base/time/clock.ts'
import type { Io } from '../../core/io.ts'
import type { HubPlaceNow } from '../client/hub-address.ts'
import type { KeySource } from '../client/hub-key-source.ts'
import { rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { makeFolderHere } from '../../base/files/files.ts'
import { writeKey } from '../client/server-access.ts'
import { HubClient } from '../client/hub-client.ts'
import { keyFileVariable } from '../client/hub-address.ts'
import { keyInFile } from '../client/hub-key-source.ts'

/** A key that the hub no longer knows after less than this time was revoked on purpose. */
const againMs = 60_000

/** How long the end of a run waits for the hub to revoke the key. */
const patienceMs = 3_000

type AgentKeyParts<File> = {
  /** The hub, and the key of the client that lends. */
  place: HubPlaceNow
  /** The agent's name at the hub. */
  name: string
  /**
   * The file in which the agent's own program finds the key. The agent may be able to write to that folder and replace it with a link to
   * another folder. None of our other files has this file's name, so none can be overwritten through such a link.
   */
  file: File
  clock: Clock
}

/**
 * The key with which an agent that termaite starts works at the hub. A person's key is never given to an agent: when the first request is
 * sent, it is used to lend the agent a key of the role `agent`, under the agent's name, which is revoked when the run ends. A client that
 * itself has an agent's key uses that key.
 */
export class AgentKey<File extends string | undefined = string | undefined> implements KeySource {
  #parts: AgentKeyParts<File>
  #secret: Promise<string | undefined> | undefined
  #lentAt: number | undefined

  constructor(parts: AgentKeyParts<File>) {
    this.#parts = parts
  }

  get file(): File {
    return this.#parts.file
  }

  key(): Promise<string | undefined> {
    this.#secret ??= this.#get().catch((error: unknown) => {
      // If the hub is unreachable, the next request asks it again.
      this.#secret = undefined
      throw error
    })
    return this.#secret
  }

  async instead(refused: string | undefined): Promise<string | undefined> {
    if ((await this.#secret) === refused) {
      // Two processes under the same name would revoke each other's keys forever.
      if (this.#lentAt === undefined || this.#parts.clock.elapsed() - this.#lentAt < againMs) return undefined
      this.#secret = undefined
    }
    return this.key()
  }

  /** Revokes the key and removes its file. If the hub is unreachable, the key expires after a day. */
  async end(): Promise<void> {
    const { file, place } = this.#parts
    if (file !== undefined) rmSync(file, { force: true })
    const secret = await this.#secret?.catch(() => undefined)
    this.#secret = undefined
    if (this.#lentAt !== undefined && secret !== undefined)
      await new HubClient({ ...place(), key: secret }).endKey(AbortSignal.timeout(patienceMs)).catch(() => {})
  }

  async #get(): Promise<string | undefined> {
    const { place, name, file } = this.#parts
    const here = place()
    const { key } = here
    const secret = await this.#lend(new HubClient(here), name, key)
    if (file !== undefined && secret !== undefined) {
      makeFolderHere(dirname(file))
      writeKey(file, secret)
    }
    return secret
  }

  async #lend(lender: HubClient, name: string, key: string | undefined): Promise<string | undefined> {
    const { role } = await lender.me()
    if (role === 'agent') return key
    const { secret } = await lender.lend(name)
    this.#lentAt = this.#parts.clock.elapsed()
    return secret
  }
}

/** A key from a file that the client was given, or a key that is lent for the run. */
export type RunKey = KeySource & { end(): Promise<void> }

/**
 * The key of an MCP client that termaite connects to the hub: the key of the agent that started the client, otherwise a key lent for the
 * run.
 */
export function clientKey({ env, clock }: Io, place: HubPlaceNow): RunKey {
  const file = env[keyFileVariable]
  if (file) return { ...keyInFile(file), end: async () => {} }
  return new AgentKey({ place, name: `mcp-${randomBytes(3).toString('hex')}`, file: undefined, clock })
}
