import type { Speech } from '../real/model/script.ts'
import type { Received } from './aws-side.ts'
import assert from 'node:assert/strict'
import { createVerify, generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anthropic } from '../real/model/anthropic.ts'
import { chat } from '../real/model/chat.ts'
import { gemini } from '../real/model/gemini.ts'
import { responses } from '../real/model/responses.ts'
import { asInvocation, verifyAws } from './aws-side.ts'

/** Made-up credentials: the first ones are those of AWS's published examples. */
export const aws = {
  id: 'AKIDEXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session: '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267',
}
const azureKey = 'azure-key-0123456789abcdef'
const bedrockKey = 'bedrock-api-key-0123456789'
const googleToken = 'ya29.made-up-google-token'
const entraToken = 'eyJ.made-up-entra-token'

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })

const homes: string[] = []
process.on('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

/** A fresh home folder, in which a cloud's own tools have written a login. */
export function cloudHome(files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(tmpdir(), 'termaite-cloud-'))
  homes.push(home)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(home, name, '..'), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  return home
}

/** The file of a service account, whose tokens are handed out at `server`. */
export const serviceAccount = (server: string) =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'made-up-project',
    private_key_id: 'key-1',
    private_key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'agent@made-up-project.iam.gserviceaccount.com',
    token_uri: `${server}/google-token`,
  })

const fields = (body: Buffer) => Object.fromEntries(new URLSearchParams(body.toString()))

/** Answers a request for a token, after looking at the proof; undefined for other requests. */
export function tokenReply({ method, target, body }: Received): object | undefined {
  if (target.endsWith('/google-token')) {
    assert.equal(method, 'POST')
    const { grant_type, assertion = '' } = fields(body)
    assert.equal(grant_type, 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = assertion.split('.')
    assert.ok(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(pair.publicKey, signature, 'base64url'))
    assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'RS256', typ: 'JWT', kid: 'key-1' })
    const { iss, scope, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    assert.deepEqual(
      [iss, scope],
      ['agent@made-up-project.iam.gserviceaccount.com', 'https://www.googleapis.com/auth/cloud-platform'],
    )
    assert.equal(exp - iat, 3600)
    return { access_token: googleToken, expires_in: 3599, token_type: 'Bearer' }
  }
  if (target.endsWith('/made-up-tenant/oauth2/v2.0/token')) {
    assert.deepEqual(fields(body), {
      grant_type: 'client_credentials',
      client_id: 'made-up-client',
      client_secret: 'entra-secret-0123456789',
      scope: 'https://ai.azure.com/.default',
    })
    return { access_token: entraToken, expires_in: 3599, token_type: 'Bearer' }
  }
  return undefined
}

/** One way to a model through a cloud: the person's surroundings, what the server must see, and how the answer comes. */
export type CloudWay = {
  model: string
  wire: 'anthropic' | 'chat' | 'responses' | 'gemini'
  env(server: string): Record<string, string>
  key?: string
  /** The address after the part that the settings name. */
  path: string
  verify(received: Received): void
  framed?(events: string): Buffer
}

/** How each wire's model speaks. */
export const speeches: Record<CloudWay['wire'], Speech> = { anthropic, chat, responses, gemini }

const signed = (received: Received) => verifyAws(received, aws)
const bearer =
  (token: string, more: Record<string, string> = {}) =>
  ({ headers }: Received) => {
    assert.equal(headers.authorization, `Bearer ${token}`)
    for (const [name, value] of Object.entries(more)) assert.equal(headers[name], value)
    for (const name of ['x-api-key', 'x-goog-api-key']) assert.equal(headers[name], undefined)
  }
const awsEnv = () => ({
  AWS_ACCESS_KEY_ID: aws.id,
  AWS_SECRET_ACCESS_KEY: aws.secret,
  AWS_SESSION_TOKEN: aws.session,
  AWS_REGION: 'eu-central-1',
})
const googleEnv = (location: string) => (server: string) => ({
  HOME: cloudHome({ '.config/gcloud/application_default_credentials.json': serviceAccount(server) }),
  GOOGLE_CLOUD_LOCATION: location,
})

/** Claude's request as clouds want it: the version and the mark of the cache in the body, neither model nor (on Bedrock) stream. */
function claudeBody(version: string, streams: boolean) {
  return ({ body }: Received) => {
    const said = JSON.parse(body.toString())
    assert.deepEqual(
      [said.anthropic_version, said.model, said.cache_control, said.stream],
      [version, undefined, undefined, streams || undefined],
    )
  }
}

const all =
  (...checks: ((received: Received) => void)[]) =>
  (received: Received) => {
    for (const check of checks) check(received)
  }

export const cloudWays: Record<string, CloudWay> = {
  'Bedrock, Claude, signed': {
    model: 'bedrock/eu.anthropic.claude-sonnet-4-6-v1:0',
    wire: 'anthropic',
    env: awsEnv,
    path: '/model/eu.anthropic.claude-sonnet-4-6-v1%3A0/invoke-with-response-stream',
    verify: all(signed, claudeBody('bedrock-2023-05-31', false)),
    framed: asInvocation,
  },
  'Bedrock, an open model, by an API key': {
    model: 'bedrock/openai.gpt-oss-120b-1:0',
    wire: 'chat',
    env: () => ({ AWS_REGION: 'us-west-2' }),
    key: bedrockKey,
    path: '/openai/v1/chat/completions',
    verify: bearer(bedrockKey),
  },
  'Bedrock, a model of OpenAI, signed': {
    model: 'bedrock/openai.gpt-5.4',
    wire: 'responses',
    env: awsEnv,
    path: '/openai/v1/responses',
    verify: signed,
  },
  'Vertex, Gemini': {
    model: 'vertex/gemini-3.5-flash',
    wire: 'gemini',
    env: googleEnv('europe-west4'),
    path: '/projects/made-up-project/locations/europe-west4/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse',
    verify: bearer(googleToken),
  },
  'Vertex, Claude': {
    model: 'vertex/claude-sonnet-4-6@20260101',
    wire: 'anthropic',
    env: googleEnv('global'),
    path: '/projects/made-up-project/locations/global/publishers/anthropic/models/claude-sonnet-4-6@20260101:streamRawPredict',
    verify: all(bearer(googleToken), claudeBody('vertex-2023-10-16', true)),
  },
  'Vertex, another publisher': {
    model: 'vertex/meta/llama-4-maverick',
    wire: 'chat',
    env: googleEnv('us-east5'),
    path: '/projects/made-up-project/locations/us-east5/endpoints/openapi/chat/completions',
    verify: bearer(googleToken),
  },
  'Azure, by a key': {
    model: 'azure/gpt-5.4',
    wire: 'responses',
    env: () => ({}),
    key: azureKey,
    path: '/openai/v1/responses',
    verify: ({ headers }) => assert.deepEqual([headers['api-key'], headers.authorization], [azureKey, undefined]),
  },
  'Azure, by an application of Entra ID': {
    model: 'azure/DeepSeek-V3.2',
    wire: 'chat',
    env: (server) => ({
      AZURE_TENANT_ID: 'made-up-tenant',
      AZURE_CLIENT_ID: 'made-up-client',
      AZURE_CLIENT_SECRET: 'entra-secret-0123456789',
      AZURE_AUTHORITY_HOST: server,
    }),
    path: '/openai/v1/chat/completions',
    verify: bearer(entraToken),
  },
  'Azure, Claude': {
    model: 'azure/claude-sonnet-4-6',
    wire: 'anthropic',
    env: () => ({}),
    key: azureKey,
    path: '/anthropic/v1/messages',
    verify: ({ headers }) =>
      assert.deepEqual([headers['api-key'], headers['anthropic-version']], [azureKey, '2023-06-01']),
  },
}
