import type { CloudWorld } from './cloud.ts'
import type { Fetched } from './expiring-login.ts'
import type { Login, Trouble } from '../http/wire-format.ts'
import { createHash, createSign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { ExpiringLogin, sharedLogin, tokenIn } from './expiring-login.ts'

/** A Google login that issues access tokens. `project` is the project of the login; `payer` is charged for its requests. */
type GoogleCredential = {
  login: Login
  project?: string
  payer?: string
  get(signal: AbortSignal): Promise<{ value: string } | { trouble: Trouble }>
  forget(): boolean
}

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const tokenServer = 'https://oauth2.googleapis.com/token'

/** How to log in again. */
const again = 'run `gcloud auth application-default login`'

/**
 * Searches for Google's application default credentials in the same places and the same order as Google's own libraries: the file that
 * `GOOGLE_APPLICATION_CREDENTIALS` names, the file that gcloud wrote, and the machine itself if the environment says that it is one of
 * Google's. `none` says what to do without credentials.
 */
export async function googleCredential(world: CloudWorld): Promise<GoogleCredential | { none: string }> {
  const { env, home } = world
  const named = env.GOOGLE_APPLICATION_CREDENTIALS
  const usual = join(env.CLOUDSDK_CONFIG || join(home, '.config/gcloud'), 'application_default_credentials.json')
  const place = named || usual
  let text: string
  try {
    text = await readFile(place, 'utf8')
  } catch (error) {
    if (named)
      return { none: `GOOGLE_APPLICATION_CREDENTIALS names ${place}, which cannot be read: ${messageOf(error)}` }
    const machine = machineAddress(env)
    if (machine !== undefined) return fromMachine(machine, world)
    return {
      none: `There are no Google credentials: ${again}, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account.`,
    }
  }
  try {
    return fromFile(JSON.parse(text), place, text, world)
  } catch {
    // The parser's message could quote a key.
    return {
      none: `${place} is not a JSON file with Google credentials: ${again}, or name another file in GOOGLE_APPLICATION_CREDENTIALS.`,
    }
  }
}

function fromFile(file: any, place: string, text: string, world: CloudWorld): GoogleCredential | { none: string } {
  const { env, clock, learn } = world
  for (const secret of [file.private_key, file.refresh_token, file.client_secret])
    if (typeof secret === 'string') learn?.('Google', secret)
  const made = ways[file.type as keyof typeof ways]?.(file, place, world)
  if (!made)
    return {
      none: `${place} holds a credential of the type "${file.type}", which termaite cannot use. Use the file of a service account, or ${again}.`,
    }
  const name = `google ${place} ${createHash('sha256').update(text).digest('hex')}`
  const token = sharedLogin(
    env,
    name,
    () => new ExpiringLogin(clock, (signal) => exchangeForToken(made, world, signal)),
  )
  return defined({
    login: made.login,
    get: (signal) => token.get(signal),
    forget: () => token.forget(),
    project: file.project_id as string | undefined,
    payer: file.quota_project_id as string | undefined,
  })
}

/** How one kind of file is exchanged for a token. */
type Way = { login: Login; server: string; form(): Record<string, string> }

const ways = {
  service_account: (
    { client_email: who, private_key: key, private_key_id: id, token_uri: server = tokenServer }: any,
    place: string,
    { clock }: CloudWorld,
  ): Way => ({
    login: {
      words: `the service account ${who} (${place})`,
      next: 'Check that its key is still valid, and that it has the role "Vertex AI User" in the project.',
    },
    server,
    form: () => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: assertion({ who, key, id, server }, clock.now()),
    }),
  }),
  authorized_user: ({ client_id, client_secret, refresh_token }: any, place: string): Way => ({
    login: { words: `the login of gcloud (${place})`, next: `To log in again, ${again}.` },
    server: tokenServer,
    form: () => ({ grant_type: 'refresh_token', client_id, client_secret, refresh_token }),
  }),
}

type Account = { who: string; key: string; id?: string; server: string }

/** Creates the statement of a service account, signed with its key (RS256), which is exchanged for a token that is valid for an hour. */
function assertion({ who, key, id, server }: Account, now: number): string {
  const at = Math.floor(now / 1000)
  const parts = [
    { alg: 'RS256', typ: 'JWT', kid: id },
    { iss: who, scope, aud: server, iat: at, exp: at + 3600 },
  ]
  const said = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${said}.${createSign('RSA-SHA256').update(said).sign(key, 'base64url')}`
}

/** Exchanges a credential for a token. A refusal names the credential and says what to do. */
async function exchangeForToken(
  { login, server, form }: Way,
  { clock, fetch, learn }: CloudWorld,
  signal: AbortSignal,
): Promise<Fetched<string>> {
  let body: string
  try {
    body = new URLSearchParams(form()).toString()
  } catch {
    return authTrouble(`The private key of ${login.words} cannot be used. Download its file again.`)
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const reply = await fetch(server, { method: 'POST', headers, body, signal })
  return tokenIn(reply, await reply.text(), { who: 'Google', now: clock.now(), learn })
}

const authTrouble = (message: string): { trouble: Trouble } => ({ trouble: { failure: { kind: 'auth', message } } })

/** Only Google's own machines have this in their environment; without it no request is sent. */
function machineAddress(env: CloudWorld['env']): string | undefined {
  const host = env.GCE_METADATA_HOST || env.GCE_METADATA_IP
  if (host) return `http://${host}`
  return env.K_SERVICE || env.CLOUD_SHELL || env.GOOGLE_VM_CONFIG_LOCK_FILE
    ? 'http://metadata.google.internal'
    : undefined
}

async function fromMachine(base: string, { env, clock, fetch, learn }: CloudWorld): Promise<GoogleCredential> {
  const login = {
    words: 'the service account of this machine',
    next: 'Check that it has the role "Vertex AI User" in the project.',
  }
  const headers = { 'metadata-flavor': 'Google' }
  const at = `${base}/computeMetadata/v1`
  const token = sharedLogin(
    env,
    `google machine ${base}`,
    () =>
      new ExpiringLogin(clock, async (signal) => {
        const reply = await fetch(`${at}/instance/service-accounts/default/token`, { headers, signal })
        return tokenIn(reply, await reply.text(), { who: 'Google', now: clock.now(), learn })
      }),
  )
  const project = await fetch(`${at}/project/project-id`, { headers, signal: AbortSignal.timeout(3000) })
    .then(async (reply) => (reply.ok ? (await reply.text()).trim() : undefined))
    .catch(() => undefined)
  return defined({ login, get: (signal: AbortSignal) => token.get(signal), forget: () => token.forget(), project })
}
