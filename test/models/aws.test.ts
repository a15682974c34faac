import { test } from 'node:test'
import assert from 'node:assert/strict'
import { awsSigned } from '../../src/models/clouds/aws-signature.ts'
import { awsMessages } from '../../src/models/clouds/aws-event-stream.ts'
import { awsMessage, awsSignature, asInvocation } from './aws-side.ts'
import { aws } from './cloud-rig.ts'

/** Examples of AWS's test suite for signatures: 2015-08-30 12:36 UTC, us-east-1, a service called "service". */
const examples: [name: string, method: string, target: string, headers: Record<string, string>, signature: string][] = [
  ['get-vanilla', 'GET', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['post-vanilla', 'POST', '/', {}, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-unreserved',
    'GET',
    '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    {},
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  [
    'get-vanilla-utf8-query',
    'GET',
    '/?%E1%88%B4=bar',
    {},
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  [
    'post-header-key-sort',
    'POST',
    '/',
    { 'My-Header1': 'value1' },
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
]

const service = (session?: string) => ({
  keys: { id: aws.id, secret: aws.secret, ...(session ? { session } : {}) },
  ...{ region: 'us-east-1', service: 'service', now: Date.UTC(2015, 7, 30, 12, 36) },
})

test('requests are signed as in the examples that AWS published, by the client and by the verifier of these tests', () => {
  for (const [name, method, target, headers, signature] of examples) {
    const sent = awsSigned({ method, url: `https://example.amazonaws.com${target}`, headers }, service())
    assert.equal(/Signature=(.*)$/.exec(sent.authorization)?.[1], signature, name)
    const received = Object.fromEntries(
      Object.entries({ ...sent, host: 'example.amazonaws.com' }).map(([key, value]) => [key.toLowerCase(), value]),
    )
    assert.equal(awsSignature({ method, target, headers: received, body: Buffer.of() }, aws.secret), signature, name)
  }
})

test('the session token of a role is sent and signed, as in the example that AWS published', () => {
  const sent = awsSigned({ method: 'GET', url: 'https://example.amazonaws.com/', headers: {} }, service(aws.session))
  assert.deepEqual(sent, {
    'x-amz-date': '20150830T123600Z',
    'x-amz-security-token': aws.session,
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
  })
})

async function* inChunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(chunks: AsyncIterable<Uint8Array>) {
  const found: { headers: Record<string, string>; payload: string }[] = []
  for await (const { headers, payload } of awsMessages(chunks)) found.push({ headers, payload: payload.toString() })
  return found
}

/** Examples that AWS's SDKs share: an empty message, a payload without headers, and a header with a number. */
const frames: [hex: string, payload: string][] = [
  ['000000100000000005c248eb7d98c8ff', ''],
  ['0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936', "{'foo':'bar'}"],
  ['0000002d0000001041c424b80a6576656e742d74797065040000a00c7b27666f6f273a27626172277d36f480a0', "{'foo':'bar'}"],
]

test('an event stream is read as in the examples that AWS published', async () => {
  for (const [hex, payload] of frames)
    assert.deepEqual(await read(inChunks(Buffer.from(hex, 'hex'), 1000)), [{ headers: {}, payload }])
  assert.equal(awsMessage({}, "{'foo':'bar'}").toString('hex'), frames[1]![0])
})

test('an event stream is read the same however its bytes are split, and a message that is cut is none', async () => {
  const said = ['{"type":"message_start"}', '{"type":"größe 👀"}', '{"type":"message_stop"}']
  const bytes = asInvocation(said.map((one) => `data: ${one}\n\n`).join(''))
  const whole = await read(inChunks(bytes, bytes.length))
  assert.deepEqual(
    whole.map(({ payload }) => Buffer.from(JSON.parse(payload).bytes, 'base64').toString()),
    said,
  )
  for (let size = 1; size < bytes.length; size++) assert.deepEqual(await read(inChunks(bytes, size)), whole, `${size}`)
  for (let cut = 0; cut < bytes.length; cut++) {
    const found = await read(inChunks(bytes.subarray(0, cut), 7))
    assert.deepEqual(found, whole.slice(0, found.length))
    assert.ok(found.length < whole.length)
  }
})

test('a stream whose bytes were changed on the way is broken, wherever the change is', async () => {
  const bytes = awsMessage({ ':message-type': 'event' }, '{"bytes":"aGVsbG8="}')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    await assert.rejects(read(inChunks(changed, 1000)), /checksum|length/, `byte ${at}`)
  }
})
