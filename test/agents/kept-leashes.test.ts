import type { TurnTerms } from '../../src/core/profile/turn-terms.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../hand-clock.ts'
import { until } from '../until.ts'
import { ending, keptChat, protocols } from './kept-rig.ts'

const limit = { timeout: 60_000 }

/** A walk over the leashes that goes from each one to each other one. */
const walk: readonly Leash[] = [
  ...(['read', 'ask', 'edit', 'all', 'read', 'edit', 'ask'] as const),
  ...(['all', 'edit', 'read', 'all', 'ask', 'read', 'read'] as const),
]

test('the walk goes from each leash to each other one', () => {
  const steps = new Set(walk.slice(1).map((to, at) => `${walk[at]} ${to}`))
  assert.equal(steps.size, 13)
})

/** Takes a turn for each of the terms: which process took it, in the order of their starts, and what it said of itself. */
async function turns(chat: ReturnType<typeof keptChat>, all: readonly Partial<TurnTerms>[]): Promise<string[]> {
  const pids: number[] = []
  const seen: string[] = []
  for (const terms of all) {
    const end = ending(await chat.take('Go on.', terms))
    assert.ok(typeof end !== 'string', String(end))
    if (!pids.includes(end.pid)) pids.push(end.pid)
    seen.push(`${pids.indexOf(end.pid) + 1}: ${end.said.replace(/^prompt \d+ /, '')}`)
  }
  return seen
}

const sandbox = {
  read: '{"approvalPolicy":"never","sandboxPolicy":{"type":"readOnly","networkAccess":false}}',
  ask: '{"approvalPolicy":"on-request","sandboxPolicy":{"type":"readOnly","networkAccess":false}}',
  edit: '{"approvalPolicy":"on-request","sandboxPolicy":{"type":"workspaceWrite","writableRoots":["/added"],"networkAccess":false,"excludeTmpdirEnvVar":false,"excludeSlashTmp":false}}',
  all: '{"approvalPolicy":"never","sandboxPolicy":{"type":"dangerFullAccess"}}',
}

/** Each turn of the walk: the number of its process, the leash that this process has by then, and its changes before the turn. */
const walked: Record<(typeof protocols)[number], readonly string[]> = {
  // Only a command line holds read and all.
  claude: [
    '1: read own own',
    '2: ask own own',
    '2: edit own own, set_permission_mode acceptEdits',
    '3: all own own',
    '4: read own own',
    '5: edit own own',
    '5: ask own own, set_permission_mode default',
    ...['6: all own own', '7: edit own own', '8: read own own', '9: all own own', '10: ask own own'],
    ...['11: read own own', '11: read own own'],
  ],
  codex: walk.map((leash, at) => {
    const isTold = at > 0 && leash !== walk[at - 1]
    return `1: ${leash} own own${isTold ? `, ${sandbox[leash]}` : ''}`
  }),
  // Its command line holds every leash, and is the same for read, ask and edit.
  pi: [
    ...['1: looking own own', '1: looking own own', '1: looking own own', '2: all own own'],
    ...['3: looking own own', '3: looking own own', '3: looking own own', '4: all own own'],
    ...['5: looking own own', '5: looking own own', '6: all own own'],
    ...['7: looking own own', '7: looking own own', '7: looking own own'],
  ],
  // The mode of the session is set before each prompt.
  acp: walk.map((leash) => `1: ${leash} own own`),
}

for (const protocol of protocols)
  test(`${protocol}: each turn of the walk runs in a process that has its leash`, limit, async () => {
    await using chat = keptChat(protocol)
    const seen = await turns(
      chat,
      walk.map((leash) => ({ leash })),
    )
    assert.deepEqual(seen, walked[protocol])
  })

/** Another model and another effort, one by one and together, and back to those of the CLI's settings. */
const choices: readonly Partial<TurnTerms>[] = [
  {},
  { model: 'other' },
  { model: 'other', effort: 'low' },
  { model: 'third', effort: 'high' },
  { model: 'third' },
  {},
]

const chosen: Record<'claude' | 'codex' | 'pi', readonly string[]> = {
  claude: [
    '1: ask own own',
    '1: ask other own, set_model other',
    '1: ask other low, apply_flag_settings low',
    '1: ask third high, set_model third, apply_flag_settings high',
    '1: ask third own, apply_flag_settings null',
    '1: ask own own, set_model null',
  ],
  // Only a new process goes back to the settings.
  codex: [
    '1: ask own own',
    '1: ask other own, {"model":"other"}',
    '1: ask other low, {"effort":"low"}',
    '1: ask third high, {"model":"third","effort":"high"}',
    ...['2: ask third own', '3: ask own own'],
  ],
  pi: [
    '1: looking own own',
    '1: looking other own, set_model other',
    '1: looking other low, set_thinking_level low',
    '1: looking third high, set_model third, set_thinking_level high',
    ...['2: looking third own', '3: looking own own'],
  ],
}

const piped = Object.keys(chosen) as (keyof typeof chosen)[]

/** A clock that tells how long it was asked to wait. */
class ToldClock extends HandClock {
  readonly limits: number[] = []

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.limits.push(ms)
    return super.sleep(ms, signal)
  }
}

/** A change that each of them makes in an open process. */
const changed = { leash: 'edit', model: 'other' } as const

for (const protocol of piped) {
  test(`${protocol}: the model and the effort change in the process that waits`, limit, async () => {
    await using chat = keptChat(protocol)
    assert.deepEqual(await turns(chat, choices), chosen[protocol])
  })

  test(`${protocol}: a process that refuses a change is replaced before it gets the prompt`, limit, async () => {
    await using chat = keptChat(protocol)
    const one = ending(await chat.take('Now it refuses changes.'))
    const two = ending(await chat.take('Go on.', changed))
    assert.ok(typeof one !== 'string' && typeof two !== 'string')
    const held = protocol === 'pi' ? 'looking' : 'edit'
    assert.deepEqual([one.pid === two.pid, two.said], [false, `prompt 1 ${held} other own`])
  })

  test(
    `${protocol}: a process that does not answer a change is replaced before it gets the prompt`,
    limit,
    async () => {
      await using chat = keptChat(protocol)
      const one = ending(await chat.take('Now it ignores changes.'))
      const clock = new ToldClock()
      const taken = chat.take('Go on.', { ...changed, clock })
      // It has answered the knock by then.
      await until(() => clock.limits.includes(10_000))
      await clock.turn(10_000)
      const two = ending(await taken)
      assert.ok(typeof one !== 'string' && typeof two !== 'string', JSON.stringify([one, two]))
      const held = protocol === 'pi' ? 'looking' : 'edit'
      assert.deepEqual([one.pid === two.pid, two.said], [false, `prompt 1 ${held} other own`])
    },
  )
}

test('a model that pi does not know by that name is left to a new process', limit, async () => {
  await using chat = keptChat('pi')
  assert.deepEqual(await turns(chat, [{}, { model: 'mock/third' }, { model: 'unknown' }]), [
    '1: looking own own',
    '1: looking third own, set_model third',
    '2: looking unknown own',
  ])
})

for (const protocol of protocols)
  test(`${protocol}: a turn that plans never runs in a process that builds, nor the other way round`, async () => {
    await using chat = keptChat(protocol)
    const turns: { pid: number; plans: boolean }[] = []
    for (const plans of [false, true, true, false, false, true]) {
      const end = ending(await chat.take('Go on.', { leash: 'read', plans }))
      assert.ok(typeof end !== 'string')
      turns.push({ pid: end.pid, plans })
    }
    const begun = turns.map(({ pid }, at) => pid !== turns[at - 1]?.pid)
    assert.deepEqual(begun, [true, true, false, true, false, true])
  })
