import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Question } from '../../src/core/talk/question.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { processTable } from '../../src/base/process/process-table.ts'
import { leftCard } from '../../src/desk/follow-up-cards.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const linux = { skip: process.platform === 'linux' ? false : 'reads /proc' }

test('the card names the processes that a turn left running, and ends them only after a yes', linux, async (t) => {
  const child = spawn('sleep', ['77'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const gone = once(child, 'exit')
  const { start } = (await processTable()).find(({ pid }) => pid === child.pid)!
  const card = leftCard([{ pid: child.pid!, start, command: 'sleep 77' }], realClock)
  const said: string[] = []
  const asked: Question[] = []
  const run = (pick: string | undefined) =>
    card.run('', {
      ask: async (question: Question) => (asked.push(question), pick === undefined ? undefined : [pick]),
      say: (text: string) => void said.push(text),
      signal: new AbortController().signal,
    } as never)
  await run(undefined)
  await run('leave')
  assert.deepEqual([child.exitCode, child.signalCode, said], [null, null, []])
  await run('end')
  assert.deepEqual(await gone, [null, 'SIGTERM'])
  assert.deepEqual(said, ['The process was stopped.'])
  const { text, shows } = asked[0]!
  golden(t, [text, shows], { [child.pid!]: '<pid>' })
})
