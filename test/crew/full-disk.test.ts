import type { Store } from '../../src/core/talk/store.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { StoreError } from '../../src/core/talk/store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { crewOf, machine, place } from './rig.ts'

type Part = 'logs' | 'slots'

/** A store on a disk that is full while the test says so: for the documents, or for the logs and long texts too. */
function storeOnDisk() {
  const store = memoryStore()
  const full = new Set<Part>()
  const needsRoom = (part: Part) => {
    if (full.has(part)) throw new StoreError(`cannot write ${part}: the disk is full`)
  }
  const onDisk: Store = {
    log: <T>(name: string) => {
      const log = store.log<T>(name)
      const append = async (item: T) => (needsRoom('logs'), log.append(item))
      return { ...bound(log), append }
    },
    doc: (name, initial) => {
      const doc = store.doc(name, initial)
      return { read: doc.read, update: async (change) => (needsRoom('slots'), doc.update(change)) }
    },
    blobs: (name) => {
      const blobs = store.blobs(name)
      return { ...bound(blobs), put: async (body, media) => (needsRoom('logs'), blobs.put(body, media)) }
    },
  }
  return { store: onDisk, full }
}

/** The methods of an object, each of which may be called alone. */
function bound<T extends object>(object: T): T {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object)) as (keyof T & string)[]
  return Object.fromEntries(names.map((name) => [name, (object[name] as () => unknown).bind(object)])) as T
}

for (const parts of [['slots'], ['slots', 'logs']] as const)
  test(`an agent goes on while its ${parts.join(' and ')} cannot be written, and its answer is its artifact`, async (context) => {
    const { find, answer, pasted, seat, host } = machine()
    const { store, full } = storeOnDisk()
    const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find, store })
    await crew.spawn({ ...place, agent: 'claude', task: 'audit' })
    await clock.turn(200)
    const { terminal } = await crew.slot(1)
    for (const part of parts) full.add(part)
    answer(1, 'all is well')
    await clock.turn(10_000)
    assert.ok(await host.find(terminal!.id), 'the terminal lives')
    assert.equal((await crew.slot(1)).state, 'busy')
    if (!full.has('logs')) assert.equal((await crew.artifact(1)).output, 'all is well', 'the log has it')
    full.clear()
    await clock.turn(2_000)
    const { state, why } = await crew.slot(1)
    assert.deepEqual([state, why], ['idle', undefined])
    assert.deepEqual(await crew.artifact(1), { output: 'all is well', truncated: false, fenced: true })
    await crew.send(1, 'once more')
    await clock.turn(2_000)
    assert.deepEqual(pasted, ['audit', 'once more'])
  })

test('an agent whose prompt could not be kept is sent it when there is room', async (context) => {
  const { find, pasted, seat } = machine()
  const { store, full } = storeOnDisk()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find, store })
  await crew.spawn({ ...place, agent: 'claude' })
  await clock.turn(200)
  await crew.send(1, 'now')
  full.add('logs')
  await clock.turn(10_000)
  assert.deepEqual([(await crew.slot(1)).state, pasted], ['busy', []])
  full.clear()
  await clock.turn(2_000)
  assert.deepEqual([(await crew.slot(1)).state, pasted], ['busy', ['now']])
})

test('an agent can be ended while the disk is full, and its slot says so when there is room', async (context) => {
  const { find, seat, host } = machine()
  const { store, full } = storeOnDisk()
  const { crew, clock } = crewOf(context, { claude: seat('claude') }, { find, store })
  await crew.spawn({ ...place, agent: 'claude', task: 'audit' })
  await clock.turn(200)
  const { terminal } = await crew.slot(1)
  full.add('logs')
  const killing = crew.kill(1).catch(() => true)
  await clock.turn(3_000)
  assert.equal(await host.find(terminal!.id), undefined)
  full.clear()
  await clock.turn(3_000)
  assert.equal(await killing, true)
  const { state, why } = await crew.slot(1)
  assert.deepEqual([state, why], ['exited', 'killed'])
})
