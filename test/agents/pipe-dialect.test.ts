import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Step } from '../../src/core/profile/profile.ts'
import type { Question } from '../../src/core/talk/question.ts'
import { HandClock } from '../hand-clock.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { turning } from '../base/alive.ts'
import { speaking, testDialect } from './dialect.ts'
import { failureIn, piped, profileOf, running } from './pipe-rig.ts'
import { until } from '../until.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const limit = { timeout: 20_000 }
const speaker = profileOf({ speaks: () => true, dialect: () => testDialect() })
const say = (command: string, profile = speaker) => piped({ command, profile })
const end = (text: string) => ({ type: 'end', outcome: { ok: true, text } })
const usage = { type: 'usage', input: 10, output: 2, source: 'reported' }

test('facts come as the dialect gives them, the reply at the end', limit, async () => {
  const call = { type: 'call', call: 'c1', tool: 'read', input: { path: 'a' } }
  const events = await eventsOf(
    say(
      speaking(
        { type: 'thread', key: 'k1' },
        { type: 'thought', delta: 'hm' },
        { type: 'reply', text: 'not yet' },
        call,
        { type: 'result', call: 'c1', ok: true, text: '\x1b[1mbold\x1b[0m' },
        { type: 'text', delta: 'do\x1b[3' },
        { type: 'text', delta: '1mne' },
        usage,
        end('done\x1b[0m '),
      ),
    ),
    turnOf(),
  )
  assert.deepEqual(events, [
    { type: 'thread', key: 'k1' },
    { type: 'thought', delta: 'h' },
    { type: 'thought', delta: 'm' },
    call,
    { type: 'result', call: 'c1', ok: true, text: 'bold' },
    { type: 'text', delta: 'd' },
    { type: 'text', delta: 'on' },
    { type: 'text', delta: 'e' },
    usage,
    { type: 'reply', text: 'done' },
    end('done'),
  ])
})

test('its prompt goes through the dialect, and stdin is closed after it', limit, async () => {
  const agent = say(`read -r line; cat; printf '{"type":"end","outcome":{"ok":true,"text":%s}}' "\${line#*:}"`, {
    ...speaker,
    dialect: () => testDialect({ open: (prompt) => `"asked":${JSON.stringify(prompt)}\n` }),
  })
  const events = await eventsOf(agent, turnOf({ prompt: 'hello' }))
  assert.deepEqual(events.at(-1), end('<message from="user">\nhello\n</message>'))
})

test('a line of another format is reported once, and bounded', limit, async (t) => {
  const events = await eventsOf(say(speaking('x'.repeat(300), 'again', end('fine'))), turnOf())
  golden(t, events)
})

test('a failure that the dialect names is the failure; the profile may know more of a crash', limit, async () => {
  const quota = { kind: 'quota', message: 'spent' } as const
  const failing = (kind: string) =>
    speaking({ type: 'end', outcome: { ok: false, failure: { kind, message: 'spent' } } })
  const knowing = { ...speaker, failure: () => ({ kind: 'auth', message: 'log in' }) as const }
  assert.deepEqual(failureIn(await eventsOf(say(failing('quota'), knowing), turnOf())), quota)
  assert.deepEqual(failureIn(await eventsOf(say(failing('crash'), knowing), turnOf())), {
    kind: 'auth',
    message: 'log in',
  })
  assert.deepEqual(failureIn(await eventsOf(say(failing('crash')), turnOf())), { kind: 'crash', message: 'spent' })
  assert.deepEqual(failureIn(await eventsOf(say('exit 9'), turnOf())), { kind: 'crash', message: 'no end, code 9' })
  assert.equal(failureIn(await eventsOf(say('no-such-command'), turnOf()))?.kind, 'missing')
})

test('a good end in the dialect outweighs last words that look like an error', limit, async () => {
  const suspicious = { ...speaker, failure: () => ({ kind: 'quota', message: 'looks spent' }) as const }
  const events = await eventsOf(say(speaking(end('the quota is 5')), suspicious), turnOf())
  assert.deepEqual(events.at(-1), end('the quota is 5'))
})

test('an end without text is no answer, and names the denials', limit, async () => {
  const empty = (denials?: string[]) => say(speaking({ type: 'end', outcome: { ok: true, text: ' ', denials } }))
  assert.deepEqual(failureIn(await eventsOf(empty(), turnOf())), {
    kind: 'crash',
    message: 'sayer gave an empty answer',
  })
  assert.deepEqual(failureIn(await eventsOf(empty(['Bash: ls', 'Write: a']), turnOf())), {
    kind: 'denied',
    message: 'sayer was not allowed: Bash: ls, Write: a',
  })
})

const question: Question = { about: 'permission', text: 'ls?', from: [], options: [{ id: 'yes', label: 'Yes' }] }
const asker = { ...speaker, dialect: () => testDialect({ asks: true }) }
const asking = `read -r prompt; echo '${JSON.stringify({ type: 'ask', question })}'
read -r answer; printf '{"type":"end","outcome":{"ok":true,"text":"got %s"}}\n' "\${answer//\\"/}"; cat`

test('a question is asked, its answer goes to stdin, and stdin is closed at the end', limit, async () => {
  const asked: Question[] = []
  const ask = async (q: Question) => {
    asked.push(q)
    return ['yes']
  }
  const events = await eventsOf(say(asking, asker), turnOf({ ask }))
  assert.deepEqual([asked, events.at(-1)], [[question], end('got [yes]')])
  assert.deepEqual((await eventsOf(say(asking, asker), turnOf())).at(-1), end('got nobody'))
})

test('a question is withdrawn when the CLI goes, and never waited for', limit, async () => {
  let withdrawn: AbortSignal | undefined
  const ask = (_q: Question, signal: AbortSignal) => {
    withdrawn = signal
    return new Promise<undefined>(() => {})
  }
  const command = `${speaking({ type: 'ask', question })}\nexit 3`
  const events = await eventsOf(say(command, asker), turnOf({ ask }))
  assert.deepEqual([failureIn(events)?.kind, withdrawn?.aborted], ['crash', true])
})

test('an answer that the dialect cannot put into words is a note, and breaks nothing else', limit, async () => {
  const reply = () => {
    throw new Error('no such option')
  }
  const line = (text: string): Step[] => [{ ...(JSON.parse(text) as Step), reply } as Step]
  const mute = { ...speaker, dialect: () => testDialect({ asks: true, line, end: () => [] }) }
  const command = speaking({ type: 'ask', question }, { type: 'end', outcome: { ok: true, text: 'done' } })
  const events = await eventsOf(say(command, mute), turnOf())
  assert.deepEqual(
    events.filter(({ type }) => type === 'note' || type === 'end'),
    [{ type: 'note', text: 'sayer could not be answered: no such option' }, end('done')],
  )
})

test('an open call explains a silence', limit, async (t) => {
  const clock = new HandClock()
  const call = { type: 'call', call: 'c1', tool: 'run', input: {} }
  const command = `${speaking(call)}\nsleep 77`
  const agent = piped({ command, profile: speaker, silenceMs: 1_000, timeoutMs: 10_000 })
  const turn = eventsOf(agent, turnOf({ clock }))
  await until(async () => clock.asleep >= 2 && (await running()).includes('sleep 77'))
  await clock.turn(500)
  const events = await turning(clock, turn)
  golden(t, failureIn(events))
})

test('a CLI that stays after its last word is ended, and its answer counts', limit, async () => {
  const clock = new HandClock()
  let said = false
  const dialect = testDialect({ over: () => said })
  const { line } = dialect
  dialect.line = (text) => {
    said ||= text.includes('"end"')
    return line(text)
  }
  const command = `${speaking(usage, end('done'))}\nsleep 77`
  const agent = piped({ command, profile: profileOf({ speaks: () => true, dialect: () => dialect }) })
  const turn = eventsOf(agent, turnOf({ clock }))
  await until(async () => said && (await running()).includes('sleep 77'))
  const events = await turning(clock, turn)
  assert.deepEqual(events, [usage, { type: 'reply', text: 'done' }, end('done')])
  assert.deepEqual(await running(), [])
})
