import type { ContentBlock, StopReason } from '@agentclientprotocol/sdk'
import type { Outcome, StoppedBy } from '../core/talk/outcome.ts'
import type { AcpSdk } from './acp-sdk.ts'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../base/defined.ts'
import { attribute, tag } from '../core/talk/transcript.ts'

/** Stores a picture from an editor. Returns the mention of the picture for the prompt. */
type KeepPicture = (base64: string, name: string) => Promise<string>

/** The blocks of a prompt as one text: a linked file becomes a mention, an embedded one is added below the text. */
export async function promptText(blocks: readonly ContentBlock[], cwd: string, keep: KeepPicture): Promise<string> {
  const said: string[] = []
  for (const block of blocks) said.push(await blockText(block, cwd, keep))
  const embedded = blocks.flatMap((block) => {
    if (block.type !== 'resource' || !('text' in block.resource)) return []
    return [tag('file', ` path="${attribute(fileName(block.resource.uri, cwd))}"`, block.resource.text)]
  })
  return [said.join(''), ...embedded].filter((part) => part.trim() !== '').join('\n\n')
}

async function blockText(block: ContentBlock, cwd: string, keep: KeepPicture): Promise<string> {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
      return keep(block.data, block.uri ? fileName(block.uri, cwd) : 'from the editor')
    case 'resource_link':
      return isFile(block.uri) ? `@"${fileName(block.uri, cwd)}"` : block.uri
    case 'resource': {
      const { resource } = block
      const name = fileName(resource.uri, cwd)
      return 'blob' in resource && resource.mimeType?.startsWith('image/') ? keep(resource.blob, name) : name
    }
    default:
      // Audio is declared as not supported; a client that sends it anyway sees a placeholder.
      return `[${block.type}]`
  }
}

const isFile = (uri: string) => uri.startsWith('file://')

/** The path with which an agent in the folder would name a file. */
function fileName(uri: string, cwd: string): string {
  if (!isFile(uri)) return uri
  const [, range = ''] = /#(L\d+(?:[:-]L?\d+)?)$/.exec(uri) ?? []
  const path = fileURLToPath(uri.replace(/#.*$/, ''))
  const way = relative(cwd, path)
  return `${way === '' || way.startsWith('..') ? path : way}${range && `#${range.replace(':', '-')}`}`
}

/** How a prompt ended; `trouble` says why no turn could begin. */
type PromptEnding = { outcome?: Outcome; cancelled: boolean; trouble?: string }

/** A running prompt; only the first of its endings counts. */
export class PendingPrompt {
  /** Stops a command that runs for the prompt. */
  readonly stop = new AbortController()
  /** The last error before a turn could begin. */
  trouble: string | undefined
  #ending = Promise.withResolvers<PromptEnding>()

  get over(): Promise<PromptEnding> {
    return this.#ending.promise
  }

  cancel(): void {
    this.stop.abort()
  }

  end(outcome?: Outcome): void {
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, outcome })
  }

  /** Ends the prompt without a turn, because the desk could not send it. */
  refuse(): void {
    const trouble = this.trouble ?? 'the prompt could not be sent'
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, trouble })
  }
}

const authRequired = -32000
const internal = -32603

/** The limits that the protocol regards as token limits. */
const atLength: ReadonlySet<StoppedBy> = new Set(['tokens', 'window', 'output'])

/** The stop reason in the protocol. A failure is thrown as an error with a machine-readable kind; a cancellation never is. */
export function stopReason({ RequestError }: AcpSdk, { outcome, cancelled, trouble }: PromptEnding): StopReason {
  if (cancelled) return 'cancelled'
  if (trouble !== undefined) throw new RequestError(internal, trouble)
  if (outcome === undefined) return 'end_turn'
  if (outcome.ok) return outcome.refused ? 'refusal' : 'end_turn'
  const { kind, message, retryAt, stoppedBy } = outcome.failure
  if (kind === 'aborted') return 'cancelled'
  if (kind === 'unfinished')
    return stoppedBy !== undefined && atLength.has(stoppedBy) ? 'max_tokens' : 'max_turn_requests'
  throw new RequestError(kind === 'auth' ? authRequired : internal, message, defined({ kind, retryAt }))
}
