import { test } from 'node:test'
import assert from 'node:assert/strict'
import { screenAgent } from '../../src/agents/screen/screen-agent.ts'
import { eventsOf, turnOf } from '../contract/agent.ts'
import { partsOf, stageOf } from './screen-rig.ts'

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

test('a turn of a program without a pattern ends, also when it prints nothing or nothing but the words of the prompt', async () => {
  const stage = stageOf('pty')
  const spec = { window: 1000, timeoutMs: 60_000, silenceMs: 30_000 }
  const answers = async (command: string, ...prompts: string[]) => {
    const agent = screenAgent({ ...spec, name: 'own', command }, { cwd: stage.cwd, leash: 'ask' }, partsOf(stage))
    const ends: unknown[] = []
    for (const [at, prompt] of prompts.entries()) {
      const events = await eventsOf(agent, turnOf({ id: `turn-${at}`, prompt, cwd: stage.cwd }))
      const end = events.at(-1)
      ends.push(end?.type === 'end' && end.outcome.ok ? [end.outcome.text, end.outcome.seen] : end)
    }
    await agent.close()
    return ends
  }
  const seen = { fenced: false, by: 'quiet' }
  assert.deepEqual(await answers("PS1='me@here$ ' bash --norc --noprofile", 'cd /', 'x=1', 'echo $x', 'x=2'), [
    ['', seen],
    ['', seen],
    ['1', seen],
    ['', seen],
  ])
  // It has no prompt of its own, and repeats what it is told.
  assert.deepEqual(await answers('echo ready; exec cat', 'hello', 'hello'), [
    ['hello', seen],
    ['hello', seen],
  ])
  await stage.close()
})
