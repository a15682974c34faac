import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../src/base/time/clock.ts'
import type { Line } from '../../src/core/talk/store.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { allBack } from '../contract/log.ts'
import { tempFolder } from './temp.ts'
import { sized } from '../full.ts'

type Item = { id: string; text: string }
type Child = ChildProcessByStdio<null, Readable, null>

// The same program many times: its compiled form is kept between them.
const cache = tempFolder()

function start(home: string, ...args: (string | number)[]): Child {
  const script = join(import.meta.dirname, 'child.ts')
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, home, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: home, NODE_COMPILE_CACHE: cache },
  })
}

/** Every line a child printed; `each` may kill it. */
async function printed(child: Child, each: (line: string, count: number) => void = () => {}): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) each(line, lines.push(line))
  return lines
}

const log = (home: string) => fileStore(home).log<Item>('projects/a/history')

async function newest(home: string, count: number): Promise<Line<Item>[]> {
  const lines: Line<Item>[] = []
  for await (const line of log(home).back()) if (lines.push(line) === count) break
  return lines
}

/** How many lines each process appends, and how often each of four lanes is killed. */
const [appends, lives] = sized([150, 6], [500, 16])

test(`two processes append ${appends} long lines each: all are whole, a follower sees each once, and a reader sees none torn`, async (t) => {
  const home = tempFolder(t)
  const stop = new AbortController()
  const followed: (string | undefined)[] = []
  const torn: string[] = []
  const following = (async () => {
    for await (const { item } of log(home).follow(0, stop.signal)) {
      if (followed.push(item?.id) === 2 * appends) stop.abort()
      if (followed.length % 20 === 0) torn.push(...(await newest(home, 3)).flatMap((line) => line.broken ?? []))
    }
  })()
  const children = ['a', 'b'].map((who) => printed(start(home, 'append', who, appends, 60_000)))
  const told = (await Promise.all(children)).flat().sort()
  await following
  const kept = (await allBack(log(home))).map((line) => line.item?.id).reverse()
  assert.equal(told.length, 2 * appends)
  assert.deepEqual(kept.toSorted(), told)
  assert.deepEqual(followed, kept)
  assert.deepEqual(torn, [])
})

test(`killed with -9 at any moment, ${4 * lives} times: every line that was reported as kept is there, and nothing torn hides another`, async (t) => {
  const home = tempFolder(t)
  const told: string[] = []
  const life = async (lane: number) => {
    for (let run = 0; run < lives; run++) {
      const last = 1 + ((run * 7 + lane * 5) % 23)
      const child = start(home, 'append', `${lane}.${run}`, 10_000, 400_000)
      told.push(...(await printed(child, (_line, count) => void (count === last && child.kill('SIGKILL')))))
    }
  }
  await Promise.all([0, 1, 2, 3].map(life))
  await log(home).append({ id: 'after', text: '' })
  const lines = await allBack(log(home))
  const kept = lines.flatMap((line) => line.item?.id ?? [])
  const found = new Set(kept)
  assert.deepEqual(
    told.filter((id) => !found.has(id)),
    [],
  )
  assert.equal(found.size, kept.length)
  assert.equal(kept[0], 'after')
  t.diagnostic(`${told.length} told, ${kept.length} kept, ${lines.length - kept.length} torn`)
})

test('two processes update one document 200 times each: it counted 400', async (t) => {
  const home = tempFolder(t)
  const children = [start(home, 'count', 'a', 200), start(home, 'count', 'b', 200)]
  assert.deepEqual(await Promise.all(children.map((child) => printed(child))), [['done'], ['done']])
  assert.equal(readFileSync(join(home, 'health.json'), 'utf8'), '{\n  "count": 400\n}\n')
})

test('a lock is waited for, and its holder killed with -9 frees it', async (t) => {
  const home = tempFolder(t)
  const child = start(home, 'hold')
  let naps = 0
  const clock: Clock = {
    now: () => 0,
    elapsed: () => 0,
    async sleep() {
      naps++
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
  await once(child.stdout, 'data')
  const doc = fileStore(home, { clock }).doc('health', { count: 0 })
  assert.deepEqual(await doc.update((now) => ({ count: now.count + 1 })), { count: 1 })
  assert.equal(naps, 1)
})
