import type { Cloud } from './cloud.ts'
import type { Carriage } from '../http/wire-format.ts'
import { headersOf } from '../http/wire-format.ts'
import { anthropicBody, missing, authFailure } from './cloud.ts'
import { googleCredential } from './google-credentials.ts'

/**
 * Google's Vertex AI: Gemini in Google's format, Claude in Anthropic's, and the models of other publishers (written as
 * `<publisher>/<model>`) in OpenAI's chat format.
 */
export const vertex: Cloud = {
  async open(model, wire, world) {
    const credential = await googleCredential(world)
    if ('none' in credential) return authFailure(credential.none)
    const { login, get, forget, payer } = credential
    const { env } = world
    const project =
      env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT || env.ANTHROPIC_VERTEX_PROJECT_ID || credential.project || payer
    if (!project) return missing('Vertex AI needs a project: set GOOGLE_CLOUD_PROJECT to its id.')
    const location = env.GOOGLE_CLOUD_LOCATION || env.GOOGLE_CLOUD_REGION || env.CLOUD_ML_REGION || 'global'
    const place = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
    const root = `${world.baseURL ?? `https://${hostOf(location)}/v1`}/${place}`
    const carriage = { login, renew: forget }
    const headersWith = (
      token: string,
      { 'x-goog-api-key': _a, 'x-api-key': _b, 'anthropic-version': _c, ...headers }: Record<string, string>,
    ) =>
      // The login of a person has no project of its own that could be charged.
      headersOf({ ...headers, authorization: `Bearer ${token}`, 'x-goog-user-project': payer })
    return {
      ...carriage,
      base: bases[wire as keyof typeof bases]?.(root) ?? root,
      async pack({ url, headers, body }, signal) {
        const token = await get(signal)
        if ('trouble' in token) return token
        const claude = wire === 'anthropic'
        return {
          url: claude ? `${root}/publishers/anthropic/models/${model}:streamRawPredict` : url,
          headers: headersWith(token.value, headers),
          body: claude ? anthropicBody(body, 'vertex-2023-10-16') : body,
        }
      },
    } satisfies Carriage
  },
}

/** The base address for each wire. */
const bases = {
  gemini: (root: string) => `${root}/publishers/google`,
  chat: (root: string) => `${root}/endpoints/openapi`,
}

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  // "us" and "eu" are regions with many locations, and have their own hosts.
  return /^(us|eu)$/.test(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}
