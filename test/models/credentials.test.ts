import type { CloudName } from '../../src/models/provider.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { openCloud, cloudWorld } from '../../src/models/clouds/open-cloud.ts'
import { providerOf, wireOf } from '../../src/models/provider.ts'
import { aws, cloudHome, serviceAccount } from './cloud-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

type Env = Record<string, string>
type Reply = { status?: number; body: string; headers?: Record<string, string> }
type Asked = { url: string; method: string; headers: Record<string, string>; body: string }

const noon = Date.UTC(2026, 10, 16, 12)

/** A cloud in made-up surroundings: what it opens, every request that it sent, and every secret that it named for masking. */
async function opened(
  name: CloudName,
  model: string,
  env: Env,
  more: { key?: string; reply?: (asked: Asked) => Reply } = {},
) {
  const asked: Asked[] = []
  const learned: string[] = []
  const clock = new HandClock(noon)
  const fetch = async (url: string, { method = 'GET', headers = {}, body = '' }: Partial<Asked> = {}) => {
    const one = { url, method, headers, body }
    asked.push(one)
    const { status = 200, body: said, headers: told = {} } = more.reply!(one)
    return new Response(said, { status, headers: told })
  }
  const provider = providerOf(name)
  const world = cloudWorld(provider, {
    ...{ env: { HOME: '/nowhere', ...env }, clock, fetch },
    key: more.key,
    learn: (_name, secret) => learned.push(secret),
  })
  const cloud = await openCloud(name)
  const carriage = await cloud.open(model, wireOf(provider, model), world)
  const sent = {
    url: 'https://wire/x',
    headers: { authorization: 'Bearer wire', 'x-api-key': 'wire' },
    body: '{"messages":[]}',
  }
  const pack = async () => {
    assert.ok('pack' in carriage, JSON.stringify(carriage))
    return carriage.pack(sent, new AbortController().signal)
  }
  return { carriage, asked, learned, clock, pack }
}

const claude = 'anthropic.claude-sonnet-4-6'
const words = ({ carriage }: Awaited<ReturnType<typeof opened>>) =>
  'failure' in carriage ? carriage.failure : { base: carriage.base, login: carriage.login.words }
const idOf = (packed: any) => /Credential=([^/]+)\//.exec(packed.headers.authorization)?.[1]

const awsFiles = {
  '.aws/credentials': `[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = default-secret-0123\n\n[work]\naws_access_key_id=AKIDWORK\naws_secret_access_key=work-secret-0123 # the second one\naws_session_token=work-session-0123\n`,
  '.aws/config': `[default]\nregion = us-east-1\ns3 =\n  region = eu-west-3\n\n[profile work]\nregion = eu-west-1\n\n[profile sso]\nsso_session = company\nregion = eu-north-1\n\n[profile role]\nrole_arn = arn:aws:iam::123456789012:role/agent\nsource_profile = work\nregion = eu-north-1\n\n[profile program]\nregion = eu-north-1\ncredential_process = printf '{"Version":1,"AccessKeyId":"AKIDPROGRAM","SecretAccessKey":"program-secret","SessionToken":"program-session","Expiration":"2026-11-16T13:00:00Z"}'; echo x >> ran\n\n[profile broken]\nregion = eu-north-1\ncredential_process = echo a-secret-that-must-not-be-shown; exit 3\n`,
}

test('AWS keys are found in the environment, then in the profile; the region beside them', async () => {
  const HOME = cloudHome(awsFiles)
  const usual = await opened('bedrock', claude, { HOME })
  assert.deepEqual(words(usual), {
    base: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    login: `the AWS profile default in ${HOME}/.aws/credentials`,
  })
  assert.equal(idOf(await usual.pack()), 'AKIDDEFAULT')
  const work = await opened('bedrock', claude, { HOME, AWS_PROFILE: 'work' })
  assert.deepEqual(words(work), {
    base: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    login: `the AWS profile work in ${HOME}/.aws/credentials`,
  })
  const packed: any = await work.pack()
  assert.deepEqual([idOf(packed), packed.headers['x-amz-security-token']], ['AKIDWORK', 'work-session-0123'])
  assert.deepEqual(work.learned, ['work-secret-0123', 'work-session-0123'])
  const env = await opened('bedrock', claude, {
    HOME,
    AWS_PROFILE: 'work',
    AWS_REGION: 'cn-north-1',
    AWS_ACCESS_KEY_ID: aws.id,
    AWS_SECRET_ACCESS_KEY: aws.secret,
  })
  assert.deepEqual(words(env), {
    base: 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    login: 'the AWS keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  })
  assert.equal(idOf(await env.pack()), aws.id)
  const arn = 'arn:aws:bedrock:ap-south-1:123456789012:inference-profile/apac.anthropic.claude-sonnet-4-6'
  const there: any = await (await opened('bedrock', arn, { HOME })).pack()
  assert.equal(
    there.url,
    'https://bedrock-runtime.ap-south-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aap-south-1%3A123456789012%3Ainference-profile%2Fapac.anthropic.claude-sonnet-4-6/invoke-with-response-stream',
  )
})

test('an API key of Bedrock goes before AWS keys and is sent as it is', async (t) => {
  const env = { HOME: cloudHome(awsFiles), AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key' }
  const found = await opened('bedrock', claude, env, { key: 'bedrock-key' })
  golden(t, (words(found) as any).login)
  assert.equal(((await found.pack()) as any).headers.authorization, 'Bearer bedrock-key')
  const stored = await opened('bedrock', claude, { HOME: env.HOME }, { key: 'stored-key' })
  golden(t, (words(stored) as any).login)
})

test('without AWS keys or a region the failure says what to do', async (t) => {
  const HOME = cloudHome({})
  golden(t, words(await opened('bedrock', claude, { HOME })))
  golden(t, words(await opened('bedrock', claude, { HOME, AWS_REGION: 'eu-central-1' })))
  golden(t, words(await opened('bedrock', claude, { HOME, AWS_REGION: 'eu-central-1', AWS_PROFILE: 'gone' })))
  const files = { HOME: cloudHome(awsFiles) }
  const sso = words(await opened('bedrock', claude, { ...files, AWS_PROFILE: 'sso' })) as { message: string }
  golden(t, sso.message)
  const role = words(await opened('bedrock', claude, { ...files, AWS_PROFILE: 'role' })) as { message: string }
  assert.match(role.message, /^The AWS profile role logs in by another role, .*: run `eval/)
})

test('a credential_process is run once until its keys are about to end, and a broken one is named without its output', async (t) => {
  const HOME = cloudHome(awsFiles)
  const { pack, clock, learned } = await opened('bedrock', claude, {
    HOME,
    PATH: process.env.PATH!,
    AWS_PROFILE: 'program',
  })
  const { readFileSync } = await import('node:fs')
  const runs = () => readFileSync(`${HOME}/ran`, 'utf8').length / 2
  const all = await Promise.all([pack(), pack(), pack()])
  assert.deepEqual(all.map(idOf), ['AKIDPROGRAM', 'AKIDPROGRAM', 'AKIDPROGRAM'])
  assert.equal(runs(), 1)
  clock.set(clock.now() + 54 * 60_000)
  await pack()
  assert.equal(runs(), 1)
  clock.set(clock.now() + 2 * 60_000)
  await pack()
  assert.equal(runs(), 2)
  assert.deepEqual([...new Set(learned)], ['program-secret', 'program-session'])
  const broken = await (
    await opened('bedrock', claude, { HOME, PATH: process.env.PATH!, AWS_PROFILE: 'broken' })
  ).pack()
  golden(t, broken)
})

const keys = (id: string) =>
  JSON.stringify({
    AccessKeyId: id,
    SecretAccessKey: 'secret-0123',
    Token: 'session-0123',
    Expiration: '2026-11-16T18:00:00Z',
  })

test('a container and a machine of AWS are asked only where the environment says so', async (t) => {
  const HOME = cloudHome({})
  const region = { HOME, AWS_REGION: 'eu-central-1' }
  const container = await opened(
    'bedrock',
    claude,
    { ...region, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/keys', AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token' },
    { reply: () => ({ body: keys('AKIDTASK') }) },
  )
  assert.equal(idOf(await container.pack()), 'AKIDTASK')
  assert.deepEqual(
    container.asked.map(({ url, headers }) => [url, headers]),
    [['http://169.254.170.2/v2/keys', { authorization: 'token' }]],
  )
  const elsewhere = await opened('bedrock', claude, {
    ...region,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.com/keys',
  })
  golden(t, ((await elsewhere.pack()) as any).trouble.failure.message)
  const machine = await opened(
    'bedrock',
    claude,
    { ...region, AWS_EC2_METADATA_DISABLED: 'false' },
    {
      reply: ({ url }) => ({
        body: url.endsWith('/token') ? 'imds-token' : url.endsWith('/') ? 'agent-role' : keys('AKIDMACHINE'),
      }),
    },
  )
  assert.equal(idOf(await machine.pack()), 'AKIDMACHINE')
  assert.deepEqual(
    machine.asked.map(({ method, url, headers }) => [method, url, headers['x-aws-ec2-metadata-token']]),
    [
      ['PUT', 'http://169.254.169.254/latest/api/token', undefined],
      ['GET', 'http://169.254.169.254/latest/meta-data/iam/security-credentials/', 'imds-token'],
      ['GET', 'http://169.254.169.254/latest/meta-data/iam/security-credentials/agent-role', 'imds-token'],
    ],
  )
})

const token = (name: string, seconds = 3599) => JSON.stringify({ access_token: name, expires_in: seconds })

test('the login of gcloud is exchanged for a token, which is renewed before its end and once for parallel requests', async () => {
  const file = {
    type: 'authorized_user',
    client_id: 'client',
    client_secret: 'client-secret',
    refresh_token: 'refresh-secret',
    quota_project_id: 'payer',
  }
  const HOME = cloudHome({ '.config/gcloud/application_default_credentials.json': JSON.stringify(file) })
  let count = 0
  const { carriage, pack, asked, clock, learned } = await opened(
    'vertex',
    'gemini-3.8-flash',
    { HOME, GOOGLE_CLOUD_PROJECT: 'mine' },
    { reply: () => ({ body: token(`ya29.${++count}`) }) },
  )
  assert.equal(
    'base' in carriage && carriage.base,
    'https://aiplatform.googleapis.com/v1/projects/mine/locations/global/publishers/google',
  )
  const all = await Promise.all([pack(), pack()])
  assert.deepEqual(
    all.map((one: any) => one.headers),
    Array(2).fill({ authorization: 'Bearer ya29.1', 'x-goog-user-project': 'payer' }),
  )
  assert.deepEqual(
    asked.map(({ url, body }) => [url, body]),
    [
      [
        'https://oauth2.googleapis.com/token',
        'grant_type=refresh_token&client_id=client&client_secret=client-secret&refresh_token=refresh-secret',
      ],
    ],
  )
  clock.set(clock.now() + 56 * 60_000)
  assert.equal(((await pack()) as any).headers.authorization, 'Bearer ya29.2')
  assert.deepEqual(learned, ['refresh-secret', 'client-secret', 'ya29.1', 'ya29.2'])
  // A token that was refused is forgotten.
  assert.equal('renew' in carriage && carriage.renew!(), true)
  assert.equal(((await pack()) as any).headers.authorization, 'Bearer ya29.3')
})

test('a token that still counts is used when its renewal fails', async () => {
  const HOME = cloudHome({ 'key.json': serviceAccount('https://tokens') })
  let up = true
  const { pack, clock } = await opened(
    'vertex',
    'gemini-3.8-flash',
    { HOME, GOOGLE_APPLICATION_CREDENTIALS: `${HOME}/key.json` },
    { reply: () => (up ? { body: token('first') } : { status: 503, body: 'later' }) },
  )
  await pack()
  up = false
  clock.set(clock.now() + 58 * 60_000)
  assert.equal(((await pack()) as any).headers.authorization, 'Bearer first')
  clock.set(clock.now() + 3 * 60_000)
  assert.equal(((await pack()) as any).trouble.status, 503)
})

test('the places of Vertex have their addresses, and missing settings are named', async (t) => {
  const HOME = cloudHome({
    'key.json': serviceAccount('https://tokens'),
    'other.json': '{"type":"external_account"}',
    'no.json': 'key',
  })
  const base = async (location: string) => {
    const found = words(
      await opened('vertex', 'claude-sonnet-4-6', {
        HOME,
        GOOGLE_APPLICATION_CREDENTIALS: `${HOME}/key.json`,
        CLOUD_ML_REGION: location,
      }),
    )
    return 'base' in found ? new URL(found.base).host : found.message
  }
  assert.deepEqual(await Promise.all(['global', 'eu', 'us', 'europe-west1'].map(base)), [
    'aiplatform.googleapis.com',
    'aiplatform.eu.rep.googleapis.com',
    'aiplatform.us.rep.googleapis.com',
    'europe-west1-aiplatform.googleapis.com',
  ])
  const why = async (env: Env) =>
    (words(await opened('vertex', 'gemini-3.8-flash', env)) as { message: string }).message
  golden(t, await why({ HOME }))
  assert.match(
    await why({ HOME, GOOGLE_APPLICATION_CREDENTIALS: `${HOME}/gone.json` }),
    /^GOOGLE_APPLICATION_CREDENTIALS names .*gone\.json, which cannot be read: ENOENT/,
  )
  golden(t, await why({ HOME, GOOGLE_APPLICATION_CREDENTIALS: `${HOME}/other.json` }), { [HOME]: '<HOME>' })
  golden(t, await why({ HOME, GOOGLE_APPLICATION_CREDENTIALS: `${HOME}/no.json` }), { [HOME]: '<HOME>' })
  const user = cloudHome({
    '.config/gcloud/application_default_credentials.json': '{"type":"authorized_user","refresh_token":"r"}',
  })
  golden(t, await why({ HOME: user }))
})

test('a machine of Google is asked for its token where the environment says that it is one', async () => {
  const HOME = cloudHome({})
  const { pack, asked, carriage } = await opened(
    'vertex',
    'gemini-3.8-flash',
    { HOME, GCE_METADATA_HOST: '127.0.0.1:8181' },
    { reply: ({ url }) => ({ body: url.endsWith('/project-id') ? 'of-the-machine' : token('ya29.machine') }) },
  )
  assert.equal(
    'base' in carriage && carriage.base,
    'https://aiplatform.googleapis.com/v1/projects/of-the-machine/locations/global/publishers/google',
  )
  assert.equal(((await pack()) as any).headers.authorization, 'Bearer ya29.machine')
  assert.deepEqual(
    asked.map(({ url, headers }) => [url, headers]),
    [
      ['http://127.0.0.1:8181/computeMetadata/v1/project/project-id', { 'metadata-flavor': 'Google' }],
      [
        'http://127.0.0.1:8181/computeMetadata/v1/instance/service-accounts/default/token',
        { 'metadata-flavor': 'Google' },
      ],
    ],
  )
})

test('Azure is found by its address or its name, and used by a key, a token or an application', async (t) => {
  const base = async (env: Env, model = 'gpt-5.4') => words(await opened('azure', model, env, { key: 'azure-key' }))
  assert.deepEqual(await base({ AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/' }), {
    base: 'https://mine.openai.azure.com/openai/v1',
    login: 'the Azure key in termaite’s key store',
  })
  assert.equal(
    ((await base({ AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com/openai/v1' })) as any).base,
    'https://mine.openai.azure.com/openai/v1',
  )
  assert.equal(
    ((await base({ AZURE_OPENAI_RESOURCE: 'mine' }, 'claude-sonnet-4-6')) as any).base,
    'https://mine.services.ai.azure.com/anthropic/v1',
  )
  golden(t, ((await base({})) as any).message)
  const at = { AZURE_OPENAI_RESOURCE: 'mine' }
  const none = words(await opened('azure', 'gpt-5.4', at)) as { message: string }
  golden(t, none.message)
  const given = await opened('azure', 'gpt-5.4', { ...at, AZURE_OPENAI_AD_TOKEN: 'entra' })
  assert.deepEqual(((await given.pack()) as any).headers, { authorization: 'Bearer entra' })
  const HOME = cloudHome({ token: 'federated-token\n' })
  const application = await opened(
    'azure',
    'gpt-5.4',
    { ...at, AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'client', AZURE_FEDERATED_TOKEN_FILE: `${HOME}/token` },
    { reply: () => ({ body: token('entra-2') }) },
  )
  assert.deepEqual(((await application.pack()) as any).headers, { authorization: 'Bearer entra-2' })
  assert.deepEqual(
    application.asked.map(({ url, body }) => [url, Object.fromEntries(new URLSearchParams(body))]),
    [
      [
        'https://login.microsoftonline.com/tenant/oauth2/v2.0/token',
        {
          grant_type: 'client_credentials',
          client_id: 'client',
          scope: 'https://ai.azure.com/.default',
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: 'federated-token',
        },
      ],
    ],
  )
})
