import type { IncomingHttpHeaders } from 'node:http'
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'

/** A request as a server of AWS receives it. */
export type Received = { method: string; target: string; headers: IncomingHttpHeaders; body: Buffer }

const sha = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Encodes byte by byte, as AWS's documentation of the signature describes `UriEncode`. */
function uriEncode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte)
      return /[A-Za-z0-9_.~-]/.test(sign) ? sign : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}

/**
 * The signature that AWS works out for a request, step by step as its documentation says. It was written from that text and shares no
 * code with the client; `clouds.test.ts` holds it against the examples that AWS published.
 */
export function awsSignature({ method, target, headers, body }: Received, secret: string): string {
  const sent =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, , day, region, service, names] = sent.exec(headers.authorization ?? '') ?? []
  assert.ok(day && region && service && names, `no AWS signature: ${headers.authorization}`)
  const [path = '/', query = ''] = target.split('?')
  const pairs =
    query === ''
      ? []
      : query.split('&').map((pair) => pair.split('=').map((part) => uriEncode(decodeURIComponent(part))))
  const canonical = [
    method,
    path.split('/').map(uriEncode).join('/'),
    pairs
      .map(([name, value = '']) => `${name}=${value}`)
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha(body),
  ].join('\n')
  const at = String(headers['x-amz-date'])
  const toSign = ['AWS4-HMAC-SHA256', at, `${day}/${region}/${service}/aws4_request`, sha(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), 'aws4_request')
  return hmac(key, toSign).toString('hex')
}

/** Refuses a request whose signature is wrong, or that does not sign what AWS wants signed. */
export function verifyAws(
  received: Received,
  { secret, id, session }: { secret: string; id: string; session?: string },
): void {
  const { authorization = '' } = received.headers
  assert.equal(/Signature=(.*)$/.exec(authorization)?.[1], awsSignature(received, secret))
  assert.match(authorization, new RegExp(`Credential=${id}/`))
  assert.equal(received.headers['x-amz-security-token'], session)
  const names = /SignedHeaders=([^,]+)/.exec(authorization)![1]!.split(';')
  for (const name of ['host', 'x-amz-date', 'content-type', ...(session ? ['x-amz-security-token'] : [])])
    assert.ok(names.includes(name), `${name} is not signed`)
}

/** The checksum of GZIP, by its definition: the polynomial 0xEDB88320, bit by bit. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

const number = (value: number, bytes: 1 | 2 | 4) => {
  const made = Buffer.alloc(bytes)
  made.writeUIntBE(value, 0, bytes)
  return made
}

/** One message of an event stream, as AWS's description of the format draws it. */
export function awsMessage(headers: Record<string, string>, payload: string | Buffer): Buffer {
  const heads = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      number(Buffer.byteLength(name), 1),
      Buffer.from(name),
      number(7, 1),
      number(Buffer.byteLength(value), 2),
      Buffer.from(value),
    ]),
  )
  const body = Buffer.from(payload)
  const prelude = Buffer.concat([number(16 + heads.length + body.length, 4), number(heads.length, 4)])
  const whole = Buffer.concat([prelude, number(crc32(prelude), 4), heads, body])
  return Buffer.concat([whole, number(crc32(whole), 4)])
}

/** The events of a text stream as Bedrock sends them: each is a message with the event in base64. */
export function asInvocation(events: string): Buffer {
  const data = [...events.matchAll(/^data: (.*)$/gm)].map(([, one]) => one!)
  return Buffer.concat(
    data.map((one) =>
      awsMessage(
        { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
        JSON.stringify({ bytes: Buffer.from(one).toString('base64'), p: 'abcdefgh' }),
      ),
    ),
  )
}
