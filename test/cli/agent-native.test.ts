import type { Answer, Asked } from '../real/model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { diffText } from '../hub/engine/diff-text.ts'
import { once } from 'node:events'
import { modelServer } from '../real/model-server.ts'
import { machineWithHub } from './agent-machine.ts'

/**
 * The moment that the provider names is some seconds ahead: one that has passed when it is read is waited for a minute. On a
 * very busy machine it may have passed nevertheless.
 */
const busy: Answer = { error: 'rate', headers: { 'retry-after': '6' } }
const options = { timeout: 150_000 }

/** A model that looks around with a command, makes the file that the last task is about, and says so. */
function worker({ body }: Asked): Answer {
  const said = JSON.stringify(body.messages)
  const thing = [...said.matchAll(/Do thing (\d)\./g)].at(-1)?.[1]
  if (thing === undefined) return { text: 'ready' }
  const done = (tool: string) => said.slice(said.lastIndexOf(`Do thing ${thing}.`)).includes(`"name":"${tool}"`)
  if (!done('bash')) return { call: { tool: 'bash', input: { command: 'git status --porcelain && pwd' } } }
  const input = { file_path: `thing-${thing}.txt`, content: `made-${thing}\n` }
  return done('file_creator') ? { text: `Thing ${thing} is made.` } : { call: { tool: 'file_creator', input } }
}

test(
  'our own agent takes tasks of the hub: through a busy provider and our own kill -9, each once, each with its diff',
  options,
  async (t) => {
    let [failed, hung] = [false, false]
    const inHand = Promise.withResolvers<void>()
    const server = await modelServer((asked) => {
      const said = JSON.stringify(asked.body.messages)
      if (said.includes('Do thing 1.') && !failed) {
        failed = true
        return busy
      }
      if (!said.includes('Do thing 2.') || hung) return worker(asked)
      hung = true
      inHand.resolve()
      return { hang: true }
    })
    t.after(() => server.close())
    // The agent does not wait for the provider itself, so that its supervisor has to.
    const own = { retrySeconds: 0, kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const agents = [{ name: 'own', ...own, contextWindowTokens: 200_000 }]
    const at = await machineWithHub(t, { leash: 'edit', agents })
    const env = { ANTHROPIC_API_KEY: 'made-up' }
    const say = (cwd: string, ...args: string[]) => at.machine.run([...args, '-p', 'hello'], { env, cwd })
    assert.equal((await say(at.machine.project)).out, 'ready\n')
    const first = at.start(['agent', '--start=own'], env)
    const [one] = await at.settled([await at.add('Do thing 1.')])
    const id = await at.add('Do thing 2.')
    await inHand.promise
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const second = at.start(['agent', '--start=own', '--resume'], env)
    const [two] = await at.settled([id])
    second.child.kill('SIGTERM')
    await once(second.child, 'exit')

    for (const [thing, task] of [one!, two!].entries()) {
      const { state, result, history } = task
      const diff = (await diffText(at.hub, task)).split('\n').filter((row) => /^[+-][^+-]/.test(row))
      const handed = history.filter((step) => step.state === 'PENDING_ACK').length
      const n = thing + 1
      assert.deepEqual([state, result?.message, diff, handed], ['IN_REVIEW', `Thing ${n} is made.`, [`+made-${n}`], 1])
    }
    assert.match(first.said(), /own: out of quota until .*: Anthropic is busy \(429\): /)
    assert.match(second.said(), /own: restarted in its session\n/)
    const [agent] = await at.hub.agents()
    assert.deepEqual([agent!.source, agent!.capabilities, agent!.workspace], ['CLI', ['own'], at.machine.project])
    assert.equal(at.git('status', '--porcelain'), '')
    const ran = server.asked.at(-1)!.text
    assert.match(ran, /worktrees\/[^/]+\/agent-own/, 'its commands run in its worktree')
    assert.doesNotMatch(ran, /bwrap:/)
    const { code, err } = await say(at.machine.folder, '--continue')
    assert.equal(code, 0, `the project that was talked in last is not an agent's place of work: ${err}`)
  },
)
