import { createHash, createHmac } from 'node:crypto'

/** The keys of an AWS account or role. A role's keys come with a session token. */
export type AwsKeys = { id: string; secret: string; session?: string }

type Signing = { keys: AwsKeys; region: string; service: string; now: number }

type Signed = { method: string; url: string; headers: Record<string, string>; body?: string }

/** Returns the headers of a request with its AWS signature (version 4), which covers the address, the headers and the body. */
export function awsSigned({ method, url, headers, body = '' }: Signed, { keys, region, service, now }: Signing) {
  const { host, pathname, searchParams } = new URL(url)
  const at = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const all: Record<string, string> = { ...headers, host, 'x-amz-date': at }
  if (keys.session) all['x-amz-security-token'] = keys.session
  const named = Object.entries(all)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const names = named.map(([name]) => name).join(';')
  const canonical = [
    method,
    canonicalPath(pathname),
    canonicalQuery(searchParams),
    ...named.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hashOf(body),
  ].join('\n')
  const scope = `${at.slice(0, 8)}/${region}/${service}/aws4_request`
  const key = [at.slice(0, 8), region, service, 'aws4_request'].reduce<string | Buffer>(
    (key, word) => createHmac('sha256', key).update(word).digest(),
    `AWS4${keys.secret}`,
  )
  const signature = createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', at, scope, hashOf(canonical)].join('\n'))
    .digest('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  // The client sets the host itself, from the address.
  const { host: _host, ...sent } = all
  return { ...sent, authorization }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Encodes every character except the unreserved ones; `encodeURIComponent` leaves out five of them. */
export const encodePart = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The path in the form that is signed: every part is encoded once more than in the request. */
const canonicalPath = (path: string) => path.split('/').map(encodePart).join('/')

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => [encodePart(name), encodePart(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&')
}
