import type { Cloud, CloudWorld } from './cloud.ts'
import type { AwsCredential } from './aws-credentials.ts'
import type { Carriage, Login, Trouble, WireRequest } from '../http/wire-format.ts'
import { awsCredential, awsFiles, awsRegion } from './aws-credentials.ts'
import { awsSigned, encodePart } from './aws-signature.ts'
import { awsMessages } from './aws-event-stream.ts'
import { anthropicBody, missing, authFailure } from './cloud.ts'

/** The account for requests to AWS: the region, the login, and a function that signs. */
type Account = { region: string; login: Login; sign: Sign; forget?(): boolean }
type Sign = (
  method: string,
  sent: Omit<WireRequest, 'body'> & { body?: string },
  signal: AbortSignal,
) => Promise<WireRequest | { trouble: Trouble }>

/**
 * Amazon Bedrock. Models of Anthropic are called in Anthropic's format (InvokeModelWithResponseStream), those of OpenAI and the open ones
 * through addresses that use OpenAI's formats.
 */
export const bedrock: Cloud = {
  async open(model, wire, world) {
    const account = await accountOf(world, model)
    if ('failure' in account) return account
    const { region, login, sign, forget } = account
    const { env } = world
    const named = world.baseURL ?? (env.AWS_ENDPOINT_URL_BEDROCK_RUNTIME || env.AWS_ENDPOINT_URL)
    const host = (named || `https://bedrock-runtime.${region}.${domainOf(region)}`).replace(/\/+$/, '')
    const carriage = { login, renew: () => forget?.() ?? false }
    if (wire !== 'anthropic')
      return {
        ...carriage,
        base: `${host}/openai/v1`,
        pack: ({ url, headers, body }, signal) => sign('POST', { url, headers: withoutLogin(headers), body }, signal),
      }
    return {
      ...carriage,
      base: host,
      pack({ headers, body }, signal) {
        const betas = headers['anthropic-beta']
        const { stream: _stream, ...rest } = JSON.parse(
          anthropicBody(body, 'bedrock-2023-05-31', betas ? { anthropic_beta: betas.split(',') } : {}),
        )
        const url = `${host}/model/${encodePart(model)}/invoke-with-response-stream`
        const accept = 'application/vnd.amazon.eventstream'
        const sent = { url, headers: { 'content-type': 'application/json', accept }, body: JSON.stringify(rest) }
        return sign('POST', sent, signal)
      },
      unpack: invocationData,
    } satisfies Carriage
  },

  async list(world, signal) {
    const account = await accountOf(world, '')
    if ('failure' in account) return { trouble: account }
    const { region, login, sign } = account
    const base =
      (world.baseURL ?? (world.env.AWS_ENDPOINT_URL_BEDROCK || world.env.AWS_ENDPOINT_URL)) ||
      `https://bedrock.${region}.${domainOf(region)}`
    const ids: string[] = []
    // Newer models are called by the id of an inference profile, older ones by their own id.
    for (const path of [
      'inference-profiles?maxResults=1000',
      'foundation-models?byInferenceType=ON_DEMAND&byOutputModality=TEXT',
    ]) {
      const sent = await sign('GET', { url: `${base.replace(/\/+$/, '')}/${path}`, headers: {} }, signal)
      if ('trouble' in sent) return { ...sent, login }
      const reply = await world.fetch(sent.url, { headers: sent.headers, signal })
      const body = await reply.text()
      if (!reply.ok) return { trouble: { status: reply.status, headers: reply.headers, body }, login }
      const said = JSON.parse(body)
      for (const one of said.inferenceProfileSummaries ?? []) ids.push(String(one.inferenceProfileId))
      for (const one of said.modelSummaries ?? []) ids.push(String(one.modelId))
    }
    return ids.sort().map((id) => ({ id }))
  },
}

const domainOf = (region: string) => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')

const withoutLogin = ({ authorization: _key, ...headers }: Record<string, string>) => headers

/** Finds the region and the credential: an API key of Bedrock if there is one, otherwise the keys of an AWS account. */
async function accountOf(world: CloudWorld, model: string): Promise<Account | ReturnType<typeof missing>> {
  const files = await awsFiles(world)
  const region = /^arn:[\w-]+:bedrock:([\w-]+):/.exec(model)?.[1] ?? awsRegion(world, files)
  if (!region)
    return missing(
      `Amazon Bedrock needs a region: set AWS_REGION (for example eu-central-1), or write \`region\` into the profile ${files.name} of ~/.aws/config.`,
    )
  const { key } = world
  if (key) {
    const login = {
      words: `the Amazon Bedrock API key in ${key.place}`,
      next: 'Make a new one in the Amazon Bedrock console, and set AWS_BEARER_TOKEN_BEDROCK to it or type /connect bedrock in the chat.',
    }
    return {
      region,
      login,
      sign: async (_method, { url, headers, body = '' }) => ({
        url,
        headers: { ...headers, authorization: `Bearer ${key.value}` },
        body,
      }),
    }
  }
  const credential = await awsCredential(world, files)
  if ('none' in credential) return authFailure(credential.none)
  const { login, forget } = credential
  return { region, login, forget, sign: signer(credential, region, world) }
}

function signer({ get }: AwsCredential, region: string, { clock }: CloudWorld): Sign {
  return async (method, { url, headers, body = '' }, signal) => {
    const found = await get(signal)
    if ('trouble' in found) return found
    const signing = { keys: found.value, region, service: 'bedrock', now: clock.now() }
    return { url, headers: awsSigned({ method, url, headers, body }, signing), body }
  }
}

/** The status that a problem in the middle of a stream would have had at its start. */
const statuses: Record<string, number> = {
  throttlingException: 429,
  validationException: 400,
  modelTimeoutException: 408,
  internalServerException: 500,
  modelStreamErrorException: 500,
  serviceUnavailableException: 503,
}

/** Yields the events of the model from AWS's messages, each of which contains one in base64. */
async function* invocationData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | { trouble: Trouble }> {
  for await (const { headers, payload } of awsMessages(chunks)) {
    const said = parsePayload(payload)
    if (headers[':message-type'] === 'event') {
      if (typeof said?.bytes === 'string') yield Buffer.from(said.bytes, 'base64').toString('utf8')
      continue
    }
    const type = headers[':exception-type'] ?? headers[':error-code'] ?? ''
    const message = said?.message ?? said?.Message ?? headers[':error-message'] ?? type
    const status = said?.originalStatusCode ?? statuses[type] ?? 500
    yield { trouble: { status, body: { error: { type, message } } } }
  }
}

function parsePayload(payload: Buffer): any {
  try {
    return JSON.parse(payload.toString('utf8'))
  } catch {
    return undefined
  }
}
