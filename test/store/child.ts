import { writeSync } from 'node:fs'
import { fileStore } from '../../src/store/files/file-store.ts'

/** Another process that works on the same home; each line that it prints names something that was kept. */
const [, , home = '', what, who = '', times = '1', length = '0'] = process.argv
const store = fileStore(home)
const say = (line: string) => writeSync(1, `${line}\n`)

async function append(count: number) {
  const log = store.log<{ id: string; text: string }>('projects/a/history')
  for (let i = 0; i < count; i++) {
    const id = `${who}-${i}`
    await log.append({ id, text: 'é'.repeat(((i * 7919) % Number(length)) / 2) })
    say(id)
  }
}

async function count(times: number) {
  const doc = store.doc('health', { count: 0 })
  for (let i = 0; i < times; i++) await doc.update((now) => ({ count: now.count + 1 }))
  say('done')
}

async function hold() {
  await store.doc('health', { count: 0 }).update(() => {
    say('held')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
}

async function fail() {
  const said = await store
    .log('projects/a/history')
    .append({ id: who, text: 'x'.repeat(Number(length)) })
    .then(String, (error: Error) => `${error.name}: ${error.message}`)
  say(said)
}

if (what === 'append') await append(Number(times))
else if (what === 'count') await count(Number(times))
else if (what === 'hold') await hold()
else if (what === 'fail') await fail()
