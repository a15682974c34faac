import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Model } from '../../core/work/model.ts'
import type { CloudName, WireName } from '../provider.ts'
import type { Effort } from '../../core/profile/effort.ts'
import type { Send } from '../http/http-client.ts'
import type { CloudWorld } from '../clouds/cloud.ts'
import type { Carriage, Target, Wire } from '../http/wire-format.ts'
import { messageOf } from '../../base/error-message.ts'
import { answer, verdictOf } from '../http/model-answer.ts'
import { asideOf } from '../http/response-stream.ts'
import { sender } from '../http/http-client.ts'
import { imagesOf } from '../wires/message-images.ts'
import { defaultModel, modelName, providerOf, wireOf } from '../provider.ts'
import { knownAs, knownOf, modelWindow } from '../model-windows.ts'

export type ModelSpec = {
  /** `<provider>/<model>` */
  model?: string
  /** The address with its /v1 or /v1beta. */
  baseURL?: string
  effort?: Effort
  /** The context window in tokens; for Ollama, the one to request. */
  window?: number
}

export type ModelParts = {
  /** Returns the API key; it is called for each answer. */
  key?(): string | undefined | Promise<string | undefined>
  blobs: Blobs
  clock: Clock
  fetch?: Send
  /** The environment that names the proxy; without it, or with `fetch`, requests go directly to the server. */
  env?: Env
  /** How long the provider may be silent in the middle of an answer before the connection counts as broken. */
  silenceMs?: number
  /** A key that is the same for all requests with the same beginning; a provider uses it to find its cache. */
  session?: string
  /** Gets every secret that is used, so that it is masked in all text that leaves. */
  learn?: CloudWorld['learn']
}

/** A wire is loaded with the first request that uses it. */
const wires: Record<WireName, () => Promise<Wire>> = {
  anthropic: async () => (await import('../wires/anthropic.ts')).anthropic,
  responses: async () => (await import('../wires/responses.ts')).responses,
  chat: async () => (await import('../wires/chat-completions.ts')).chat,
  gemini: async () => (await import('../wires/gemini-content.ts')).gemini,
  ollama: async () => (await import('../wires/ollama.ts')).ollama,
}

/** Opens a provider's model. This cannot fail: a problem becomes the failure of its stream. */
export function openModel(spec: ModelSpec, parts: ModelParts): Model {
  const name = spec.model ?? defaultModel
  const target = targetOf(name, spec)
  if ('kind' in target) return failing(name, target)
  const { provider } = target
  const { fetch = sender(parts.env ?? {}), silenceMs = 300_000 } = parts
  let prepared = false
  return {
    name,
    get window() {
      return target.window
    },
    unseen: ({ sha }) => target.unseen.get(sha),
    async *stream(request, signal) {
      try {
        const key = (await parts.key?.())?.trim()
        if (provider.cloud) {
          const carriage = await carriageTo(provider.cloud, target, spec, { ...parts, fetch, key })
          if ('failure' in carriage) return yield { type: 'failure', failure: carriage.failure }
          target.carriage = carriage
          target.base = carriage.base
          target.login = carriage.login
        } else if (!key && provider.keys.length > 0) return yield { type: 'failure', failure: keyless(target) }
        // All streams of this model share the target, so that what one finds out about the server applies to the next.
        target.key = key
        if (parts.session) target.session = parts.session
        const wire = await wires[target.wire]()
        if (!prepared && wire.prepare) {
          const trouble = await wire.prepare(target, asideOf(key, fetch, signal))
          const verdict = trouble && (await verdictOf(trouble, target, [], parts.clock.now()))
          if (verdict && 'failure' in verdict) return yield { type: 'failure', failure: verdict.failure }
        }
        prepared = true
        const images = await imagesOf(request.messages, parts.blobs, target)
        yield* answer(request, { wire, to: target, images, clock: parts.clock, fetch, silenceMs }, signal)
      } catch (error) {
        yield {
          type: 'failure',
          failure: { kind: 'crash', message: `${name} failed unexpectedly: ${messageOf(error)}` },
        }
      }
    },
  }
}

/** Finds the way to a cloud's model again for each answer: files and logins change while termaite runs. */
async function carriageTo(
  name: CloudName,
  { provider, model, wire }: Target,
  { baseURL }: ModelSpec,
  { env = {}, clock, fetch, key, learn }: Omit<ModelParts, 'key'> & { fetch: Send; key?: string },
): Promise<Carriage | { failure: Failure }> {
  const { cloudWorld, openCloud } = await import('../clouds/open-cloud.ts')
  const cloud = await openCloud(name)
  return cloud.open(model, wire, cloudWorld(provider, { env, clock, fetch, key, baseURL, learn }))
}

function targetOf(name: string, spec: ModelSpec): Target | Failure {
  const named = modelName(name)
  if ('wrong' in named) return { kind: 'missing', message: named.wrong }
  const provider = providerOf(named.provider)
  const base = (spec.baseURL ?? provider.base)?.replace(/\/+$/, '')
  if (!base && !provider.cloud) return { kind: 'missing', message: `${name} needs a \`baseURL\`, with its /v1` }
  const known = knownOf(named.provider, named.model)
  const window = spec.window ?? modelWindow(name)
  const wire = wireOf(provider, knownAs(named.provider, named.model))
  const { effort } = spec
  const ownAddress = spec.baseURL !== undefined || provider.local !== undefined
  return {
    name,
    provider,
    wire,
    model: named.model,
    base: base ?? '',
    known,
    window,
    refused: new Set(),
    unseen: new Map(),
    effort,
    ownAddress,
  }
}

function keyless({ provider: { label, keys } }: Target): Failure {
  return {
    kind: 'auth',
    message: `There is no key for ${label}: set ${keys.join(' or ')}, or type /connect in the chat.`,
  }
}

function failing(name: string, failure: Failure): Model {
  return {
    name,
    window: 1,
    async *stream() {
      yield { type: 'failure', failure }
    },
  }
}
