import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Model, ModelEvent, ModelRequest } from '../../src/core/work/model.ts'

export type ModelMaker = {
  says(text: string): Model
  calls(tool: string, input: unknown): Model
  fails(failure: Failure): Model
  /** Says the text, and then nothing more until it is aborted. */
  hangs(text: string): Model
  /** How many streams of its models are still under way. */
  running(): number
}

const request: ModelRequest = {
  frame: { system: 'Be brief.', tools: [{ name: 'ls', description: 'lists', schema: { type: 'object' } }] },
  messages: [{ role: 'user', text: 'hello' }],
}

async function eventsOf(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, signal)) events.push(event)
  return events
}

const isLast = ({ type }: ModelEvent) => type === 'end' || type === 'failure'
const said = (events: ModelEvent[]) => events.map((event) => (event.type === 'text' ? event.delta : '')).join('')

/** The contract of every Model, whichever provider is behind it. */
export function modelContract(name: string, make: ModelMaker): void {
  test(`${name}: an answer streams, and ends once`, async () => {
    const model = make.says('two words')
    const before = structuredClone(request)
    for (const events of [await eventsOf(model), await eventsOf(model)]) {
      assert.equal(said(events), 'two words')
      assert.deepEqual(events.filter(isLast), [events.at(-1)])
      assert.deepEqual(events.at(-1), { ...events.at(-1), type: 'end', stop: 'done' })
    }
    assert.deepEqual(request, before, 'a request is not changed')
    assert.ok(model.window > 0 && model.name !== '')
  })

  test(`${name}: a call comes whole, and the end says that there are calls`, async () => {
    const events = await eventsOf(make.calls('ls', { path: 'src', deep: [1, { a: null }] }))
    const calls = events.filter((event) => event.type === 'call')
    assert.deepEqual(
      calls.map(({ tool, input }) => ({ tool, input })),
      [{ tool: 'ls', input: { path: 'src', deep: [1, { a: null }] } }],
    )
    assert.equal(typeof calls[0]!.id, 'string')
    assert.deepEqual(events.at(-1), { ...events.at(-1), type: 'end', stop: 'calls' })
  })

  test(`${name}: every trouble is a failure at the end, and nothing is thrown`, async () => {
    const events = await eventsOf(make.fails({ kind: 'quota', message: 'limit' }))
    assert.equal(events.filter(isLast).length, 1)
    const last = events.at(-1)!
    assert.equal(last.type === 'failure' && last.failure.kind, 'quota')
  })

  test(`${name}: an abort ends it as aborted, before or in the middle`, async () => {
    const before = await eventsOf(make.hangs('hm'), AbortSignal.abort())
    const abort = new AbortController()
    const events: ModelEvent[] = []
    for await (const event of make.hangs('hm').stream(request, abort.signal)) {
      events.push(event)
      if (event.type === 'text') abort.abort()
    }
    for (const last of [before.at(-1)!, events.at(-1)!])
      assert.equal(last.type === 'failure' && last.failure.kind, 'aborted')
    assert.equal(make.running(), 0)
  })

  test(`${name}: leaving early leaves nothing running`, async () => {
    for await (const _event of make.says('two words').stream(request, new AbortController().signal)) break
    assert.equal(make.running(), 0)
  })
}
