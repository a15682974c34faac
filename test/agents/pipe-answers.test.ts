import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import { readText } from '../../src/core/talk/store.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { piped } from './pipe-rig.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const limit = { timeout: 20_000 }

async function answer(...args: Parameters<typeof piped>): Promise<string | Event> {
  const end = (await eventsOf(piped(...args), turnOf({ prompt: 'say it' }))).at(-1)!
  return end.type === 'end' && end.outcome.ok ? end.outcome.text : end
}

test('the prompt comes on stdin, with the meta-instruction after it', limit, async () => {
  assert.equal(
    await answer({ command: 'cat', metaInstruction: 'be brief' }),
    '<message from="user">\nsay it\n</message>\n\nbe brief',
  )
})

test('a command runs under bash exactly as written; with args it is an argv', limit, async () => {
  assert.equal(await answer({ command: `x=(a 'b  c'); echo "\${x[1]}" | tr b d` }), 'd  c')
  assert.equal(await answer({ command: 'printf', args: ['%s|', '$HOME', '; echo no'] }), '$HOME|; echo no|')
})

test('the environment of a command is ours and its own', limit, async () => {
  const env = { ...process.env, FROM: 'outside', BOTH: 'outside' }
  assert.equal(await answer({ command: 'echo $FROM $BOTH', env: { BOTH: 'settings' } }, { env }), 'outside settings')
})

test('control sequences never reach the answer, and characters may be cut anywhere', limit, async () => {
  const command = String.raw`printf '\033[31mr\303'; sleep 0.02; printf '\251d\033'; sleep 0.02; printf '[0m\r\n\033]0;title\007ok\n'`
  const events = await eventsOf(piped({ command }), turnOf())
  assert.equal(events.map((event) => (event.type === 'text' ? event.delta : '')).join(''), 'réd\nok\n')
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'réd\nok' } })
})

test('a command that never reads a long prompt is no failure', limit, async () => {
  const turn = turnOf({ prompt: 'x'.repeat(3_000_000) })
  const events = await eventsOf(piped({ command: 'exec <&-; echo fine' }), turn)
  assert.deepEqual(events.at(-1), { type: 'end', outcome: { ok: true, text: 'fine' } })
})

test('the usage is estimated where the CLI reports none', limit, async () => {
  const events = await eventsOf(piped({ command: 'echo 12345678' }), turnOf({ prompt: 'hello' }))
  const prompt = '<message from="user">\nhello\n</message>\n'
  assert.deepEqual(
    events.filter((event) => event.type === 'usage'),
    [{ type: 'usage', input: Math.ceil(prompt.length / 4), output: 2, source: 'estimated' }],
  )
})

test('a long answer keeps its two ends and goes to a blob whole', limit, async () => {
  const blobs = memoryStore().blobs('test')
  const events = await eventsOf(piped({ command: `echo; seq 1 30000` }, { blobs }), turnOf())
  const [reply, end] = [events.find((event) => event.type === 'reply')!, events.at(-1)!]
  assert.ok(reply.type === 'reply' && reply.whole && end.type === 'end' && end.outcome.ok)
  const whole = `${Array.from({ length: 30_000 }, (_, i) => i + 1).join('\n')}\n`
  assert.equal(await readText(blobs, reply.whole), whole)
  const ends = [whole.slice(0, 32 * 1024), whole.slice(-8 * 1024)] as const
  const missing = whole.length - ends[0].length - ends[1].length
  assert.equal(reply.text, `${ends[0]}\n[… ${missing} characters cut …]\n${ends[1].trimEnd()}`)
  assert.deepEqual(end.outcome, { ok: true, text: reply.text, whole: reply.whole })
})

test('a long answer that fails leaves no blob behind', limit, async () => {
  let dropped = 0
  const blobs = memoryStore().blobs('test')
  const watched = {
    ...blobs,
    place: () => undefined,
    writer: () => ({
      write: async () => {},
      done: async () => assert.fail('half an answer is kept'),
      drop: async () => void dropped++,
    }),
  }
  const events = await eventsOf(piped({ command: 'seq 1 30000; exit 3' }, { blobs: watched }), turnOf())
  assert.deepEqual([events.filter((event) => event.type === 'reply'), dropped], [[], 1])
})

test('an answer that cannot be kept fails, and leaves nothing running', limit, async (t) => {
  const full = {
    ...memoryStore().blobs('test'),
    writer: () => ({
      write: async () => {
        throw new Error('the disk is full')
      },
      done: async () => assert.fail('not reached'),
      drop: async () => {},
    }),
  }
  const events = await eventsOf(piped({ command: 'seq 1 30000; sleep 77' }, { blobs: full }), turnOf())
  golden(t, events.at(-1))
})
