import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  about,
  anything,
  boolean,
  either,
  faultsIn,
  integer,
  list,
  mapOf,
  Misfit,
  number,
  numberAbove,
  object,
  oneOf,
  optional,
  parser,
  pathText,
  string,
} from '../../src/core/data/shape.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const edit = object({ old: string({ min: 1 }), count: optional(integer(1, 9)) })
const input = parser({ path: about('The file.', string()), edits: list(edit, 1), dry: optional(boolean()) })

test('a parser shows a brief schema and reads values that fit it', () => {
  assert.deepEqual(input.schema, {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file.' },
      edits: {
        type: 'array',
        items: {
          type: 'object',
          properties: { old: { type: 'string' }, count: { type: 'integer' } },
          additionalProperties: false,
          required: ['old'],
        },
      },
      dry: { type: 'boolean' },
    },
    additionalProperties: false,
    required: ['path', 'edits'],
  })
  assert.deepEqual(input.parse({ path: 'a', edits: [{ old: 'x', count: 2 }] }), {
    path: 'a',
    edits: [{ old: 'x', count: 2 }],
  })
})

test('a parser corrects mistakes that models often make', () => {
  const sent = { path: 'a', edits: '[{"old":"x","count":"2"}]', dry: 'true' }
  const meant = { path: 'a', edits: [{ old: 'x', count: 2 }], dry: true }
  assert.deepEqual([input.parse(sent), input.parse(JSON.stringify(sent))], [meant, meant])
  assert.deepEqual(input.parse({ path: 'a', edits: [{ old: 'x', count: null }] }), {
    path: 'a',
    edits: [{ old: 'x' }],
  })
})

test('a misfit says in words what to send instead', (t) => {
  const words = (sent: unknown, read = input) => {
    try {
      read.parse(sent)
    } catch (error) {
      return error instanceof Misfit ? error.message : error
    }
    return undefined
  }
  const sent = [
    [],
    undefined,
    { path: 1 },
    { path: 'a', edits: [] },
    { path: 'a', edits: 'x' },
    { path: 'a', edits: [{}] },
    { path: 'a', edits: [{ old: '' }] },
    { path: 'a', edits: [{ old: 'x', count: 10 }] },
    { path: 'a', edits: [{ old: 'x' }], dry: 'maybe' },
    { path: 'a', edit: [] },
  ]
  golden(
    t,
    sent.map((input) => [input, words(input)]),
  )
  assert.equal(words({ x: 1 }, parser({}) as never), 'there is no field x; it takes no fields.')
})

test('a parser of answers names them in its words and ignores fields that were not asked for', () => {
  const answer = parser({ name: string() }, { root: 'the answer', strays: 'ignored' })
  assert.deepEqual(answer.parse({ name: 'a', mood: 'good' }), { name: 'a' })
  assert.throws(() => answer.parse({}), { message: 'the answer.name is missing.' })
})

const settings = object({
  name: string({ matches: /^\w+$/, wants: 'letters' }),
  level: optional(oneOf('low', 'high')),
  seconds: optional(numberAbove(0)),
  share: optional(number(0)),
  env: optional(mapOf(string(), string({ matches: /^[A-Z]+$/, wants: 'capital letters' }))),
  agents: optional(either(list(string(), 1, 3), mapOf(object({ on: boolean() })))),
  rest: optional(anything()),
})

test('values that a person wrote are read strictly, and the first fault is found with its path', () => {
  const faults: [unknown, object | undefined][] = [
    [{ name: 'a', level: 'low', seconds: 0.5, share: 0, env: { A: 'b' }, agents: ['x'], rest: null }, undefined],
    [
      { name: 'a', seconds: '5' },
      { is: 'wrong', path: ['seconds'], found: '"5"', wants: 'a number above 0' },
    ],
    [
      { name: 'a', seconds: null },
      { is: 'wrong', path: ['seconds'], found: 'null', wants: 'a number above 0' },
    ],
    [
      { name: 'a', share: -1 },
      { is: 'wrong', path: ['share'], found: '-1', wants: 'a number of 0 or more' },
    ],
    [{ level: 'low' }, { is: 'missing', path: ['name'], wants: 'letters' }],
    [
      { name: 'a', level: 'hihg' },
      { is: 'wrong', path: ['level'], found: '"hihg"', wants: 'one of "low", "high"', near: 'high' },
    ],
    [
      { name: 'a', lvl: 'low' },
      { is: 'unknown', path: ['lvl'], known: ['name', 'level', 'seconds', 'share', 'env', 'agents', 'rest'] },
    ],
    [
      { name: 'a', env: { b: '' } },
      { is: 'wrong', path: ['env', 'b'], found: '"b"', wants: 'capital letters' },
    ],
  ]
  assert.deepEqual(
    faults.map(([value]) => JSON.parse(JSON.stringify(faultsIn(settings, value)[0] ?? null))),
    faults.map(([, fault]) => fault ?? null),
  )
})

test('when no shape of two fits, the one that was meant explains the fault', () => {
  const said = (agents: unknown) => {
    const [fault] = faultsIn(settings, { name: 'a', agents })
    return fault && { at: pathText(fault.path), ...('wants' in fault ? { wants: fault.wants } : {}) }
  }
  assert.deepEqual(said(['x', 5]), { at: 'agents[1]', wants: 'a string' })
  assert.deepEqual(said({ x: { on: 'yes' } }), { at: 'agents.x.on', wants: 'true or false' })
  assert.deepEqual(said(5), { at: 'agents', wants: 'a list of 1 to 3 items or an object' })
})

test('every fault is found, not the first alone, each with its path', () => {
  const wrong = { level: 'hihg', lvl: 1, other: 2, seconds: '5', env: { b: 1, A: 2 }, agents: { x: { on: 1 }, y: {} } }
  assert.deepEqual(
    faultsIn(settings, wrong).map(({ is, path }) => `${is} ${pathText(path)}`),
    [
      'unknown lvl',
      'unknown other',
      'missing name',
      'wrong level',
      'wrong seconds',
      'wrong env.b',
      'wrong env.b',
      'wrong env.A',
      'wrong agents.x.on',
      'missing agents.y.on',
    ],
  )
})

test('the full schema tells an editor the bounds too', () => {
  assert.deepEqual(settings.json('full'), {
    type: 'object',
    properties: {
      name: { type: 'string', pattern: '^\\w+$' },
      level: { type: 'string', enum: ['low', 'high'] },
      seconds: { type: 'number', exclusiveMinimum: 0 },
      share: { type: 'number', minimum: 0 },
      env: {
        type: 'object',
        propertyNames: { type: 'string', pattern: '^[A-Z]+$' },
        additionalProperties: { type: 'string' },
      },
      agents: {
        anyOf: [
          { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
          {
            type: 'object',
            propertyNames: { type: 'string' },
            additionalProperties: {
              type: 'object',
              properties: { on: { type: 'boolean' } },
              additionalProperties: false,
              required: ['on'],
            },
          },
        ],
      },
      rest: {},
    },
    additionalProperties: false,
    required: ['name'],
  })
  assert.deepEqual(edit.json('full'), {
    type: 'object',
    properties: { old: { type: 'string', minLength: 1 }, count: { type: 'integer', minimum: 1, maximum: 9 } },
    additionalProperties: false,
    required: ['old'],
  })
})
