import type { StopReason, ContentBlock } from '@agentclientprotocol/sdk'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { AcpSdk } from './acp-sdk.ts'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attribute, tag } from '../../core/talk/transcript.ts'

/** How a prompt ended, for whoever sent it. */
export type PromptEnding = { outcome?: Outcome; cancelled: boolean; trouble?: string }

/** A prompt that is at work: it ends once, by whichever comes first. */
export class PendingPrompt {
  /** Ends a command that is run for it. */
  readonly stop = new AbortController()
  /** The last thing that went wrong before a turn could begin. */
  trouble: string | undefined
  #ending = Promise.withResolvers<PromptEnding>()

  get over(): Promise<PromptEnding> {
    return this.#ending.promise
  }

  cancel(): void {
    this.stop.abort()
  }

  end(outcome?: Outcome): void {
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, ...(outcome ? { outcome } : {}) })
  }

  /** The prompt came back: no turn was begun. */
  refuse(): void {
    const trouble = this.trouble ?? 'the prompt could not be sent'
    this.#ending.resolve({ cancelled: this.stop.signal.aborted, trouble })
  }
}

const authRequired = -32000
const internal = -32603

/** A failure is an error of the protocol, with its kind for programs; a cancel never is. */
export function stopReason({ RequestError }: AcpSdk, { outcome, cancelled, trouble }: PromptEnding): StopReason {
  if (cancelled) return 'cancelled'
  if (trouble !== undefined) throw new RequestError(internal, trouble)
  if (outcome === undefined) return 'end_turn'
  if (outcome.ok) return outcome.refused ? 'refusal' : 'end_turn'
  const { kind, message, retryAt } = outcome.failure
  if (kind === 'aborted') return 'cancelled'
  const data = { kind, ...(retryAt === undefined ? {} : { retryAt }) }
  throw new RequestError(kind === 'auth' ? authRequired : internal, message, data)
}

/** A prompt in blocks as the text that every agent takes: a linked file is a mention, an enclosed one stands behind it. */
export function promptOf(blocks: readonly ContentBlock[], cwd: string): string {
  const said = blocks.map((block) => sentence(block, cwd)).join('')
  const enclosed = blocks.flatMap((block) => {
    if (block.type !== 'resource' || !('text' in block.resource)) return []
    return [tag('file', ` path="${attribute(nameOf(block.resource.uri, cwd))}"`, block.resource.text)]
  })
  return [said, ...enclosed].filter((part) => part.trim() !== '').join('\n\n')
}

function sentence(block: ContentBlock, cwd: string): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return isFile(block.uri) ? `@"${nameOf(block.uri, cwd)}"` : block.uri
    case 'resource':
      return nameOf(block.resource.uri, cwd)
    default:
      // Said not to be taken: a client that sends it anyway is told by what the agent does not see.
      return `[${block.type}]`
  }
}

const isFile = (uri: string) => uri.startsWith('file://')

/** As an agent that stands in the folder would call it. */
function nameOf(uri: string, cwd: string): string {
  if (!isFile(uri)) return uri
  const [, range = ''] = /#(L\d+(?:[:-]L?\d+)?)$/.exec(uri) ?? []
  const path = fileURLToPath(uri.replace(/#.*$/, ''))
  const way = relative(cwd, path)
  return `${way === '' || way.startsWith('..') ? path : way}${range && `#${range.replace(':', '-')}`}`
}
