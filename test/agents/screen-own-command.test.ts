import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import type { Kind } from './screen-rig.ts'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { atOnce, often } from './often.ts'
import { lacks, partsOf, stageOf } from './screen-rig.ts'

test('a shell is an agent by its command and its prompt alone', async () => {
  const stage = stageOf('pty')
  const spec = {
    name: 'shell',
    command: "PS1='ready$ ' bash --norc --noprofile",
    idlePattern: /^ready\$ $/m,
    window: 1000,
    timeoutMs: 60_000,
    silenceMs: 30_000,
  }
  const agent = screenAgent(spec, { cwd: stage.cwd, leash: 'ask' }, partsOf(stage))
  const said = async (prompt: string) => (await eventsOf(agent, turnOf({ id: prompt, prompt, cwd: stage.cwd }))).at(-1)
  const answered = (text: string) => ({
    type: 'end',
    outcome: { ok: true, text, seen: { fenced: false, by: 'pattern' } },
  })
  assert.deepEqual(await said('echo one; sleep 0.2; echo two'), answered('one\ntwo'))
  assert.deepEqual(await said('echo three'), answered('three'))
  const long = 'x'.repeat(300)
  assert.deepEqual(await said(`printf '%300s\\n' | tr ' ' x`), answered(long))
  assert.deepEqual(
    { memory: agent.traits.memory, talks: agent.traits.talks, steers: agent.traits.steers },
    { memory: 'own', talks: false, steers: false },
  )
  await agent.close()
  assert.equal(await stage.host.find(agent.terminal!.id), undefined)
  await stage.close()
})

/** A shell whose sign names its folder, and two programs without a sign: one repeats what it is told, the other is silent. */
const shell = "PS1='\\w$ ' bash --norc --noprofile"
const parrot = 'echo ready; exec cat'

const seen = { fenced: false, by: 'quiet' }

/** Programs without a pattern, their prompts, and the answers. */
const unmarked: Record<string, { command: string; said: [prompt: string, answer: string][] }> = {
  'a turn that prints nothing ends': {
    command: shell,
    said: [
      ['x=1', ''],
      ['echo $x', '1'],
      ['x=2', ''],
    ],
  },
  'a sign that changes, or follows words on the same line, is no part of an answer': {
    command: shell,
    said: [
      ['cd /', ''],
      ['cd /usr; pwd', '/usr'],
      ["PS1='anew> '", ''],
      ['echo "<b>"', '<b>'],
      // Last: bash draws the line after words without an end of line over them.
      ['printf words', 'words'],
    ],
  },
  'a turn that prints nothing but the words of the prompt ends': {
    command: parrot,
    said: [
      ['hello', 'hello'],
      ['hello', 'hello'],
    ],
  },
}

for (const kind of ['tmux', 'pty'] satisfies Kind[])
  describe(`${kind}: a program without a pattern`, { concurrency: atOnce, skip: lacks(kind) }, () => {
    for (const [name, { command, said }] of Object.entries(unmarked))
      test(`${kind}: ${name}`, async (t) => {
        const stage = stageOf(kind)
        const play = async () => {
          const spec = { name: 'own', command, window: 1000, timeoutMs: 120_000, silenceMs: 60_000 }
          const agent = screenAgent(spec, { cwd: stage.cwd, leash: 'ask' }, partsOf(stage))
          const ends: unknown[] = []
          try {
            for (const [at, [prompt]] of said.entries()) {
              const end = (await eventsOf(agent, turnOf({ id: `turn-${at}`, prompt, cwd: stage.cwd }))).at(-1)
              ends.push(end?.type === 'end' && end.outcome.ok ? [end.outcome.text, end.outcome.seen] : end)
            }
          } finally {
            await agent.close()
          }
          assert.deepEqual(
            ends,
            said.map(([, answer]) => [answer, seen]),
          )
        }
        await often(t, play).finally(() => stage.close())
      })
  })
