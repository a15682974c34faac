import type { Question } from '../../src/core/talk/question.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { askSharingOnce } from '../../src/think/think.ts'

const about = (agent: string, more: Partial<Question> = {}): Question => ({
  about: 'sharing',
  text: `may ${agent} see it?`,
  from: [],
  agent,
  options: [],
  ...more,
})

/** A person who answers when they are told to; who was asked about is told. */
function slow() {
  const asked: string[] = []
  const answers: ((picks: string[] | undefined) => void)[] = []
  const ask = askSharingOnce((question, withdrawn) => {
    asked.push(question.agent!)
    return new Promise((resolve) => {
      answers.push(resolve)
      withdrawn.addEventListener('abort', () => resolve(undefined), { once: true })
    })
  })
  return { ask, asked, answer: (at: number, ...picks: string[]) => answers[at]!(picks) }
}

const here = new AbortController().signal

test('an agent with two roles is asked about once, a yes or a no; another agent is asked about as well', async () => {
  const { ask, asked, answer } = slow()
  const all = [about('beta'), about('beta'), about('gamma'), about('gamma')].map((question) => ask(question, here))
  answer(0, 'yes')
  answer(1, 'no')
  assert.deepEqual(await Promise.all(all), [['yes'], ['yes'], ['no'], ['no']])
  assert.deepEqual(await ask(about('beta'), here), ['yes'])
  assert.deepEqual(asked, ['beta', 'gamma'])
})

test('a role that is given up leaves the question to the next one, and does not wait itself', async () => {
  const { ask, asked, answer } = slow()
  const [first, second] = [new AbortController(), new AbortController()]
  const gone = ask(about('beta'), first.signal)
  const waits = ask(about('beta'), second.signal)
  const stays = ask(about('beta'), here)
  second.abort()
  assert.equal(await waits, undefined)
  first.abort()
  assert.equal(await gone, undefined)
  await new Promise(setImmediate)
  assert.deepEqual(asked, ['beta', 'beta'])
  answer(1, 'yes')
  assert.deepEqual(await stays, ['yes'])
})

test('questions about anything but sharing are asked each time', async () => {
  const { ask, asked, answer } = slow()
  const all = [about('beta', { about: 'permission' }), about('beta', { about: 'permission' })].map((question) =>
    ask(question, here),
  )
  answer(0, 'once')
  answer(1, 'no')
  assert.deepEqual(
    [await Promise.all(all), asked],
    [
      [['once'], ['no']],
      ['beta', 'beta'],
    ],
  )
})
