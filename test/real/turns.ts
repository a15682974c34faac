import type { Leash } from '../../src/core/work/agent.ts'
import type { Failure } from '../../src/core/talk/outcome.ts'
import type { Script, Trouble } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedAgent } from '../agents/scripted-agent.ts'
import { installed } from './rig.ts'
import { factsOf, outcomeOf, talk } from './talk.ts'

/** The facts of one CLI in the tests that all of them pass. */
export type Ways = {
  /** A tool call that makes new.txt in the project. */
  act: { tool: string; input: unknown }
  /** The denial of that call under each leash that does not let the CLI act. */
  denials: Partial<Record<Leash, string[]>>
  usage: object
  /** The failure that each trouble becomes. */
  busy: Failure
  auth: Failure
  /** How its provider says that a usage window is spent; `env` where only a subscription has one. */
  spent: { trouble: Trouble; env?: Record<string, string | undefined>; failure: Failure }
}

const hello: Script = ({ count }) => ({ text: `Answer ${count}.` })
const acting =
  ({ act }: Ways): Script =>
  ({ count }) =>
    count === 1 ? { call: act } : { text: 'That is all.' }
const trouble =
  (error: Trouble): Script =>
  () => ({ error })

/** How often a text stands in another, whatever wire it went over. */
const times = (text: string, part: string) => text.split(part).length - 1

/** Why the tests of a CLI are left out. */
export const skipped = (cli: string) =>
  installed(cli) ? false : `${cli} is not installed: npm ci in test/real/clis brings it`

/** The contract of a turn of every real CLI. */
export function realTurns(cli: string, ways: Ways) {
  const skip = skipped(cli)
  test(`${cli} takes a turn and goes on with its own thread`, { skip }, async () => {
    await using it = await talk(cli, hello)
    const first = await it.say('The first question.')
    const said = factsOf(first).filter((fact) => 'type' in fact && fact.type !== 'thread')
    assert.deepEqual(said, [
      { type: 'prompt', text: 'The first question.', by: 'user' },
      { type: 'usage', by: cli, ...ways.usage },
      { type: 'reply', text: 'Answer 1.', by: cli },
      { type: 'end', outcome: { ok: true, text: 'Answer 1.' }, by: cli },
    ])
    await it.sayTo(scriptedAgent('other', [[{ say: 'The other answer.' }]]), 'A question in between.')
    const second = await it.say('The second question.')
    assert.deepEqual(outcomeOf(second), { ok: true, text: 'Answer 2.' })
    assert.deepEqual(
      second.filter((event) => event.type === 'usage').map(({ type, input, output }) => ({ type, input, output })),
      [{ type: 'usage', input: 1200, output: 34 }],
    )
    const [, asked] = it.server.turns()
    const texts = [
      'The first question.',
      'Answer 1.',
      'A question in between.',
      'The other answer.',
      'The second question.',
    ]
    assert.deepEqual(
      texts.map((text) => times(asked!.text, text)),
      [1, 1, 1, 1, 1],
    )
    await it.moveOut()
    assert.deepEqual(outcomeOf(await it.say('The third question.')), { ok: true, text: 'Answer 3.' })
    const anew = it.server.turns().at(-1)!
    assert.deepEqual(
      [...texts, 'Answer 2.', 'The third question.'].map((text) => times(anew.text, text)),
      [1, 1, 1, 1, 1, 1, 1],
    )
  })

  test(`${cli} acts under a leash that lets it, and is denied under one that does not`, { skip }, async () => {
    for (const leash of ['edit', 'all', 'ask', 'read'] as const) {
      const denied = ways.denials[leash]
      const made = denied === undefined
      await using it = await talk(cli, acting(ways))
      const outcome = outcomeOf(await it.say('Make new.txt.', leash))
      // Some put the whole path into a call before they refuse it.
      if (outcome?.ok && outcome.denials)
        outcome.denials = outcome.denials.map((text) => text.replace(`${it.place().cwd}/`, ''))
      const denials = made ? {} : { denials: denied }
      assert.deepEqual(
        { leash, made: existsSync(join(it.place().cwd, 'new.txt')), outcome },
        { leash, made, outcome: { ok: true, text: 'That is all.', ...denials } },
      )
    }
  })

  test(`${cli} is busy, out of quota or refused, and says which`, { skip }, async () => {
    const failure = async (script: Script, env: Record<string, string | undefined> = {}) => {
      await using it = await talk(cli, script)
      Object.assign(it.place().env, env)
      const outcome = outcomeOf(await it.say('Hello.'))
      const address = it.server.url.replace('http://', '')
      return outcome?.ok === false
        ? { ...outcome.failure, message: outcome.failure.message.replace(address, 'MODEL') }
        : outcome
    }
    const { spent } = ways
    const { retryAt: _differs, ...busy } = { retryAt: 0, ...(await failure(trouble('rate'))) }
    assert.deepEqual(busy, ways.busy)
    assert.deepEqual(await failure(trouble('key')), ways.auth)
    assert.deepEqual(await failure(trouble(spent.trouble), spent.env), spent.failure)
  })

  test(`${cli} that hangs is ended, and no process of it is left`, { skip }, async () => {
    await using it = await talk(cli, () => ({ hang: true }))
    const stop = new AbortController()
    const turn = it.say('Hello.', 'read', stop.signal)
    await it.server.received(1)
    assert.notDeepEqual(await it.left(), [])
    stop.abort()
    assert.deepEqual(outcomeOf(await turn), {
      ok: false,
      failure: { kind: 'aborted', message: `${cli} was cancelled` },
    })
    assert.deepEqual(await it.left(), [])
  })
}
