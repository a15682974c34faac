import type { Reply, Speech } from '../real/model/script.ts'
import type { CloudWay } from './cloud-rig.ts'
import type { Act } from './cloud-server.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { modelContract } from '../contract/model.ts'
import { counting } from './server.ts'
import { blobs, eventsOf, hello } from './tap.ts'
import { awsMessage } from './aws-side.ts'
import { aws, cloudWays, speeches } from './cloud-rig.ts'
import { cloudServer } from './cloud-server.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const clouds = await cloudServer()
after(() => clouds.close())

function opened(
  way: CloudWay,
  act: Act,
  parts: { fetch?: ReturnType<typeof counting>['fetch']; clock?: HandClock } = {},
) {
  const room = clouds.room(way, act)
  const world = { key: () => way.key, blobs, clock: realClock, env: way.env(room.url), ...parts }
  return { room, model: openModel({ model: way.model, baseURL: room.url }, world) }
}

for (const [name, way] of Object.entries(cloudWays)) {
  const speech: Pick<Speech, 'say' | 'half' | 'trouble'> = speeches[way.wire]
  const count = counting()
  const made = (act: Act) => opened(way, act, { fetch: count.fetch }).model
  modelContract(name, {
    says: (text) => made((asked) => speech.say({ text }, asked)),
    calls: (tool, input) => made((asked) => speech.say({ call: { tool, input } }, asked)),
    fails: () => made(() => (speech.trouble.quota ?? speech.trouble.credit)!),
    hangs: (text) => made((asked) => ({ half: speech.half(text, asked) })),
    running: count.open,
  })

  test(`${name}: the address and the proof are what the cloud wants, and a token is fetched once for all requests`, async () => {
    const { room, model } = opened(way, (asked) => speech.say({ text: 'well' }, asked))
    await Promise.all([1, 2, 3].map(() => eventsOf(model, hello)))
    await eventsOf(model, hello)
    assert.deepEqual(room.faults, [])
    assert.deepEqual(room.targets, Array(4).fill(way.path))
    assert.equal(room.tokens, /Vertex|Entra/.test(name) ? 1 : 0)
  })
}

const bedrock = cloudWays['Bedrock, Claude, signed']!
const now = Date.UTC(2026, 10, 16, 12)

/** The failure that one reply of a cloud becomes. */
async function failure(way: CloudWay, reply: Reply): Promise<unknown> {
  const { model } = opened({ ...way, verify: () => {} }, () => reply, { clock: new HandClock(now) })
  return (await eventsOf(model, hello)).at(-1)
}

const amazon = (status: number, type: string, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: {
    'content-type': 'application/json',
    'x-amzn-errortype': `${type}:http://internal.amazon.com/`,
    ...headers,
  },
  body: JSON.stringify({ message }),
})

test('a refusal names the credential and where it was found, never its value, and says what to do', async (t) => {
  golden(
    t,
    await failure(
      bedrock,
      amazon(403, 'ExpiredTokenException', 'The security token included in the request is expired'),
    ),
  )
  // AWS repeats what it would have signed, the session token among it.
  const echo = `The request signature we calculated does not match the signature you provided.\n\nThe Canonical String for this request should have been\n'POST\nx-amz-security-token:${aws.session}'`
  const wrong = JSON.stringify(await failure(bedrock, amazon(403, 'InvalidSignatureException', echo)))
  assert.match(wrong, /the signature you provided\. They come with AWS_SESSION_TOKEN/)
  assert.ok(!wrong.includes(aws.session))
  const key = cloudWays['Azure, by a key']!
  const refused = {
    status: 401,
    headers: {},
    body: JSON.stringify({
      error: { code: '401', message: `Access denied due to invalid subscription key ${key.key}.` },
    }),
  }
  golden(t, await failure(key, refused))
})

test('a clock that is wrong is said to be wrong, with the difference where the server tells its time', async (t) => {
  const late = amazon(
    403,
    'InvalidSignatureException',
    'Signature expired: 20261116T120000Z is now earlier than 20261116T121500Z',
    {
      date: 'Mon, 16 Nov 2026 12:20:00 GMT',
    },
  )
  golden(t, await failure(bedrock, late))
})

test('Bedrock’s words for a busy service, a spent day, a long prompt and an unknown model are understood', async () => {
  const kinds = await Promise.all(
    [
      amazon(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'),
      amazon(429, 'ThrottlingException', 'Too many tokens per day, please wait before trying again.'),
      amazon(400, 'ValidationException', 'Input is too long for requested model.'),
      amazon(404, 'ResourceNotFoundException', 'The model is not available.'),
      amazon(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'),
    ].map((reply) => failure(bedrock, reply)),
  )
  assert.deepEqual(
    kinds.map((one: any) => [one.failure.kind, one.passing === true]),
    [
      ['busy', true],
      ['quota', false],
      ['overflow', false],
      ['missing', false],
      ['busy', true],
    ],
  )
})

test('a problem in the middle of Bedrock’s stream, or bytes that were changed, are troubles that pass', async (t) => {
  const half = speeches.anthropic.half('Half of', { body: { stream: true }, count: 1 } as never)
  const after = (bytes: Buffer): CloudWay => ({
    ...bedrock,
    framed: (events) => Buffer.concat([bedrock.framed!(events), bytes]),
  })
  const ended = async (way: CloudWay) => eventsOf(opened(way, () => ({ status: 200, body: half })).model, hello)
  const thrown = awsMessage(
    { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    '{"message":"Too many requests"}',
  )
  assert.deepEqual(
    (await ended(after(thrown))).filter(({ type }) => type !== 'usage'),
    [
      { type: 'text', delta: 'Half of' },
      {
        type: 'failure',
        failure: { kind: 'busy', message: 'Amazon Bedrock is busy (429): Too many requests' },
        passing: true,
      },
    ],
  )
  const changed = awsMessage({}, 'changed')
  changed[14]! ^= 1
  golden(t, (await ended(after(changed))).at(-1))
})
