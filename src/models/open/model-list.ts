import type { Env } from '../../base/env.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { ProviderName } from '../provider.ts'
import type { Send } from '../http/http-client.ts'
import type { Listed, Login, Trouble } from '../http/wire-format.ts'
import { defined } from '../../base/defined.ts'
import { send } from '../http/http-client.ts'
import { verdictOf } from '../http/provider-failure.ts'
import { providerOf } from '../provider.ts'
import { unknownWindow } from '../model-windows.ts'
import { root } from '../wires/ollama.ts'
import { bearer, headersOf } from '../http/wire-format.ts'

type Listing = {
  clock: Clock
  fetch?: Send
  baseURL?: string
  signal?: AbortSignal
  /** The environment to search for a cloud's login. */
  env?: Env
}

/** Lists the models that a provider offers for a key, or says why it could not. */
export async function listModels(
  name: ProviderName,
  key: string | undefined,
  { clock, fetch = send, baseURL, signal, env = {} }: Listing,
): Promise<{ models: Listed[]; failure?: undefined } | { failure: Failure }> {
  const provider = providerOf(name)
  const base = (baseURL ?? provider.base)?.replace(/\/+$/, '')
  if (provider.cloud) return cloudModels(name, key, { clock, fetch, baseURL, signal, env })
  if (!base) return { failure: { kind: 'missing', message: `${name} needs a \`baseURL\`, with its /v1` } }
  const { path, headers } = asked[provider.wire](base, key)
  let trouble: Trouble
  try {
    const response = await fetch(path, { headers, signal })
    const body = await response.text()
    const models = response.ok ? modelsIn(parseBody(body)) : undefined
    if (models) return { models }
    trouble = response.ok
      ? { cause: 'it listed no models' }
      : { status: response.status, headers: response.headers, body }
  } catch (cause) {
    trouble = { cause }
  }
  if (signal?.aborted) return { failure: { kind: 'aborted', message: 'cancelled' } }
  return { failure: failureOf(trouble, name, defined({ base, key }), clock.now()) }
}

/** Lists the models of a cloud, if it has a list of those that can be called. */
async function cloudModels(
  name: ProviderName,
  key: string | undefined,
  { clock, fetch = send, baseURL, env = {}, signal = new AbortController().signal }: Listing,
): Promise<{ models: Listed[]; failure?: undefined } | { failure: Failure }> {
  const provider = providerOf(name)
  const { cloudWorld, openCloud } = await import('../clouds/open-cloud.ts')
  const cloud = await openCloud(provider.cloud!)
  const message = `${provider.label} has no list of the models that you can call: type the name, for example /models ${name}/${provider.usual ?? '<deployment>'}.`
  if (!cloud.list) return { failure: { kind: 'missing', message } }
  const world = cloudWorld(provider, { env, clock, fetch, key, baseURL })
  const found = await cloud.list(world, signal).catch((cause: unknown) => ({ trouble: { cause }, login: undefined }))
  if (Array.isArray(found)) return { models: found }
  if (signal.aborted) return { failure: { kind: 'aborted', message: 'cancelled' } }
  const { trouble, login } = found
  return { failure: failureOf(trouble, name, defined({ base: baseURL ?? '', key, login }), clock.now()) }
}

function failureOf(
  trouble: Trouble,
  name: ProviderName,
  { base, key, login }: { base: string; key?: string; login?: Login },
  now: number,
): Failure {
  const provider = providerOf(name)
  const to = {
    ...{ name, provider, wire: provider.wire, model: '', base, key, login },
    known: { window: unknownWindow },
    window: 0,
    refused: new Set<string>(),
    unseen: new Map<string, string>(),
  }
  const verdict = verdictOf(trouble, to, [], now)
  return 'failure' in verdict ? verdict.failure : { kind: 'crash', message: `${provider.label} lists no models` }
}

const compatible = (base: string, key: string | undefined) => ({
  path: `${base}/models`,
  headers: headersOf({ authorization: bearer(key) }),
})

const asked = {
  anthropic: (base: string, key: string | undefined) => ({
    path: `${base}/models?limit=1000`,
    headers: headersOf({ 'anthropic-version': '2023-06-01', 'x-api-key': key || undefined }),
  }),
  gemini: (base: string, key: string | undefined) => ({
    path: `${base}/models?pageSize=1000`,
    headers: headersOf({ 'x-goog-api-key': key || undefined }),
  }),
  ollama: (base: string, key: string | undefined) => ({
    path: `${root(base)}/api/tags`,
    headers: headersOf({ authorization: bearer(key) }),
  }),
  responses: compatible,
  chat: compatible,
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Parses a list of models in any provider's form, sorted by name, without models that cannot chat, if the list says so. */
export function modelsIn(body: any): Listed[] | undefined {
  const list: unknown = body?.data ?? body?.models
  if (!Array.isArray(list)) return undefined
  return list
    .filter((one) => one?.supportedGenerationMethods?.includes('generateContent') ?? one?.type !== 'embeddings')
    .map((one) => {
      const id = String(one?.id ?? one?.model ?? one?.name ?? '').replace(/^models\//, '')
      const window = windows.map((key) => one?.[key]).find((value) => typeof value === 'number')
      return window === undefined ? { id } : { id, window }
    })
    .filter(({ id }) => id !== '')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The context that the server has loaded takes precedence over the model's maximum. */
const windows = [
  'loaded_context_length',
  'max_context_length',
  'context_window',
  'context_length',
  'inputTokenLimit',
  'max_input_tokens',
]
