import type { CloudWorld } from './cloud.ts'
import type { AwsKeys } from './aws-signature.ts'
import type { Fetched } from './expiring-login.ts'
import type { Login, Trouble } from '../http/wire-format.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { collect } from '../../base/process/collect.ts'
import { messageOf } from '../../base/error-message.ts'
import { defined } from '../../base/defined.ts'
import { ExpiringLogin, sharedLogin } from './expiring-login.ts'

/** AWS keys, or a way to get them. The description of the login never contains a key. */
export type AwsCredential = {
  login: Login
  get(signal: AbortSignal): Promise<{ value: AwsKeys } | { trouble: Trouble }>
  forget?(): boolean
}

type Profile = Readonly<Record<string, string>>

/** The profile to use, with its settings from both files of the AWS command line tool; `place` is the file to name in messages. */
type AwsFiles = { name: string; profile: Profile | undefined; place: string }

/** Reads the profile that `AWS_PROFILE` names, else the one called "default". */
export async function awsFiles({ env, home }: Pick<CloudWorld, 'env' | 'home'>): Promise<AwsFiles> {
  const name = env.AWS_PROFILE || env.AWS_DEFAULT_PROFILE || 'default'
  const config = env.AWS_CONFIG_FILE || join(home, '.aws/config')
  const credentials = env.AWS_SHARED_CREDENTIALS_FILE || join(home, '.aws/credentials')
  const [settings, keys] = await Promise.all([sectionsIn(config), sectionsIn(credentials)])
  const named = settings[name === 'default' ? 'default' : `profile ${name}`] ?? settings[`profile ${name}`]
  const own = keys[name]
  const profile = named || own ? { ...named, ...own } : undefined
  return { name, profile, place: own?.aws_access_key_id ? credentials : config }
}

async function sectionsIn(file: string): Promise<Record<string, Profile>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const found: Record<string, Record<string, string>> = {}
  let section: Record<string, string> | undefined
  for (const line of text.split(/\r?\n/)) {
    const head = /^\s*\[\s*(.*?)\s*\]/.exec(line)
    if (head) section = found[head[1]!.replace(/\s+/g, ' ')] ??= {}
    // Lines that begin with white space belong to the previous setting, for example below "s3 =".
    const pair = /^([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line)
    if (pair && section) section[pair[1]!.toLowerCase()] = pair[2]!.replace(/\s[#;].*$/, '')
  }
  return found
}

/** The region from the environment or from the profile; the address of every request contains it. */
export const awsRegion = ({ env }: Pick<CloudWorld, 'env'>, { profile }: AwsFiles): string | undefined =>
  env.AWS_REGION || env.AWS_DEFAULT_REGION || profile?.region

/**
 * Searches for AWS keys in the same places and the same order as AWS's own tools: the environment, the profile in `~/.aws`, the
 * container. The machine itself is only asked if the environment allows that. `none` says what to do without keys.
 */
export async function awsCredential(world: CloudWorld, files: AwsFiles): Promise<AwsCredential | { none: string }> {
  const { env } = world
  const session = env.AWS_SESSION_TOKEN
  if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) {
    const keys = defined({ id: env.AWS_ACCESS_KEY_ID, secret: env.AWS_SECRET_ACCESS_KEY, session })
    return fixedCredential(keys, world, {
      words: 'the AWS keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      next: session
        ? 'They come with AWS_SESSION_TOKEN and expire after some hours: get new ones, and start termaite with them.'
        : 'Check them with `aws sts get-caller-identity`.',
    })
  }
  const { profile, name } = files
  if (profile) {
    const found = fromProfile(profile, name, files.place, world)
    if (found) return found
  }
  const container = containerAddress(env)
  if (container !== undefined)
    return fetchedCredential('container', `the AWS role of this container (${container})`, world, () =>
      fromContainer(container, world),
    )
  const machine = machineAddress(env)
  if (machine !== undefined)
    return fetchedCredential('machine', 'the AWS role of this machine', world, () => fromMachine(machine, world))
  if (env.AWS_PROFILE && !profile)
    return {
      none: `The AWS profile ${name} (AWS_PROFILE) is in neither ~/.aws/config nor ~/.aws/credentials. Write it there with \`aws configure --profile ${name}\`.`,
    }
  return {
    none: 'There are no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK to an Amazon Bedrock API key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`.',
  }
}

function fromProfile(
  profile: Profile,
  name: string,
  place: string,
  world: CloudWorld,
): AwsCredential | { none: string } | undefined {
  const {
    aws_access_key_id: id,
    aws_secret_access_key: secret,
    aws_session_token: session,
    credential_process: command,
  } = profile
  if (id && secret)
    return fixedCredential(defined({ id, secret, session }), world, {
      words: `the AWS profile ${name} in ${place}`,
      next: `Check it with \`aws sts get-caller-identity --profile ${name}\`.`,
    })
  if (command)
    return fetchedCredential(
      `process ${command}`,
      `the AWS profile ${name}, whose keys come from its credential_process`,
      world,
      (signal) => fromProgram(command, name, world, signal),
    )
  const way =
    profile.sso_session || profile.sso_start_url
      ? 'AWS IAM Identity Center (SSO)'
      : profile.role_arn
        ? 'another role'
        : undefined
  if (way === undefined) return undefined
  const login = way.includes('SSO') ? `run \`aws sso login --profile ${name}\`, then ` : ''
  return {
    none: `The AWS profile ${name} logs in by ${way}, which termaite leaves to the AWS command line tool: ${login}run \`eval "$(aws configure export-credentials --profile ${name} --format env)"\` before termaite. To have it done each time, write a profile with \`credential_process = aws configure export-credentials --profile ${name}\` into ~/.aws/config, and name it in AWS_PROFILE.`,
  }
}

function fixedCredential(keys: AwsKeys, { learn }: CloudWorld, login: Login): AwsCredential {
  learnSecrets(keys, learn)
  return { login, get: async () => ({ value: keys }) }
}

/** The id of a key is not a secret: AWS writes it to its logs. */
function learnSecrets({ secret, session }: AwsKeys, learn: CloudWorld['learn']): void {
  learn?.('AWS', secret)
  if (session) learn?.('AWS', session)
}

function fetchedCredential(
  name: string,
  words: string,
  world: CloudWorld,
  get: (signal: AbortSignal) => Promise<Fetched<AwsKeys>>,
): AwsCredential {
  const { clock, env, learn } = world
  const login = sharedLogin(
    env,
    `aws ${name} ${env.AWS_PROFILE}`,
    () =>
      new ExpiringLogin(clock, async (signal) => {
        const found = await get(signal)
        if ('value' in found) learnSecrets(found.value, learn)
        return found
      }),
  )
  return {
    login: { words, next: 'Check that the role may call Amazon Bedrock (bedrock:InvokeModelWithResponseStream).' },
    get: (signal) => login.get(signal),
    forget: () => login.forget(),
  }
}

/** Runs the program from the person's own AWS settings, which prints keys as JSON. */
async function fromProgram(
  command: string,
  name: string,
  { env, home }: CloudWorld,
  signal: AbortSignal,
): Promise<Fetched<AwsKeys>> {
  const ran = await collect('/bin/sh', ['-c', command], { cwd: home || '/', env, signal })
  // The output of the program is not quoted, because it may be a key.
  const failed = (why: string) =>
    trouble(
      `The credential_process of the AWS profile ${name} ${why}. Run the command yourself to see why; it is in ~/.aws/config.`,
    )
  if (ran.error || ran.code !== 0)
    return failed(
      ran.error
        ? `could not be started: ${messageOf(ran.error)}`
        : `ended with the exit code ${ran.code ?? 'of a signal'}`,
    )
  try {
    return keysIn(JSON.parse(ran.out.toString('utf8'))) ?? failed('printed no keys')
  } catch {
    return failed('printed something other than JSON')
  }
}

/** Keys in the form in which programs, containers and machines provide them. */
function keysIn(said: any): Fetched<AwsKeys> | undefined {
  const { AccessKeyId: id, SecretAccessKey: secret, SessionToken, Token, Expiration } = said ?? {}
  if (typeof id !== 'string' || typeof secret !== 'string') return undefined
  const until = Date.parse(Expiration ?? '')
  return defined({
    value: defined({ id, secret, session: SessionToken ?? Token }),
    until: Number.isFinite(until) ? until : undefined,
  })
}

const trouble = (message: string): { trouble: Trouble } => ({ trouble: { failure: { kind: 'auth', message } } })

/** From these addresses containers may get their keys without encryption: ECS's and EKS's own addresses, and loopback. */
const containerHosts = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', 'localhost', '127.0.0.1', '[::1]'])

function containerAddress(env: CloudWorld['env']): string | undefined {
  if (env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI)
    return `http://169.254.170.2${env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}`
  return env.AWS_CONTAINER_CREDENTIALS_FULL_URI || undefined
}

async function fromContainer(address: string, { env, fetch }: CloudWorld): Promise<Fetched<AwsKeys>> {
  const url = URL.parse(address)
  if (!url || (url.protocol !== 'https:' && !containerHosts.has(url.hostname)))
    return trouble(
      `AWS_CONTAINER_CREDENTIALS_FULL_URI names ${address}, which is neither an https address nor one of this machine.`,
    )
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE
  const token = file ? (await readFile(file, 'utf8')).trim() : env.AWS_CONTAINER_AUTHORIZATION_TOKEN
  const reply = await fetch(address, { headers: token ? { authorization: token } : {} })
  return readKeys(reply.status, await reply.text(), 'The container')
}

function readKeys(status: number, body: string, who: string): Fetched<AwsKeys> {
  if (status >= 500) return { trouble: { status, body } }
  try {
    const found = status === 200 ? keysIn(JSON.parse(body)) : undefined
    if (found) return found
  } catch {
    // The answer is not quoted, because it may be a key.
  }
  return trouble(`${who} has no AWS keys for termaite (status ${status}). Give it a role that may call Amazon Bedrock.`)
}

/**
 * A machine is only asked for keys if the environment says that it belongs to AWS: elsewhere the request would take seconds and reach
 * nobody.
 */
function machineAddress(env: CloudWorld['env']): string | undefined {
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') return undefined
  if (env.AWS_EC2_METADATA_SERVICE_ENDPOINT) return env.AWS_EC2_METADATA_SERVICE_ENDPOINT.replace(/\/+$/, '')
  return env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'false' ? 'http://169.254.169.254' : undefined
}

async function fromMachine(base: string, { fetch }: CloudWorld): Promise<Fetched<AwsKeys>> {
  const asked = await fetch(`${base}/latest/api/token`, {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  })
  const headers = { 'x-aws-ec2-metadata-token': (await asked.text()).trim() }
  const roles = `${base}/latest/meta-data/iam/security-credentials/`
  const role = await fetch(roles, { headers })
  const name = (await role.text()).trim().split('\n')[0]
  if (!role.ok || !name) return readKeys(role.status, '', 'This machine')
  const keys = await fetch(`${roles}${name}`, { headers })
  return readKeys(keys.status, await keys.text(), 'This machine')
}
