import type { Answer } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer } from '../real/model-server.ts'
import { Machine, nativeOn } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

const review = { text: `\`\`\`json\n${JSON.stringify({ findings: [] })}\n\`\`\`` }

type Body = { system?: unknown; tools?: { name: string }[]; messages: { role: string; content: unknown }[] }

/** An agent of ours whose model first calls `think` with these inputs, one after another, and then answers with what it heard. */
async function thinker(t: TestContext, inputs: readonly object[], settings: Record<string, unknown> = {}) {
  const machine = new Machine(t)
  const offered: string[][] = []
  const told: string[] = []
  const server = await modelServer(({ body }) => {
    const { messages, tools = [], system } = body as Body
    const last = JSON.stringify(messages.at(-1)!.content)
    if (JSON.stringify(messages[0]!.content).includes('Which thinking framework is most appropriate?'))
      return { text: 'DIRECT' }
    if (last.includes('You review work before')) {
      offered.push([
        'critic',
        ...tools.map(({ name }) => name).filter((name) => name === 'think' || name === 'subagent'),
      ])
      told.push(`${JSON.stringify(system)}${last}`)
      return review
    }
    offered.push(['actor', ...tools.map(({ name }) => name).filter((name) => name === 'think')])
    const done = messages.filter(({ role }) => role === 'assistant').length
    const input = inputs[done]
    const heard = messages.slice(1).flatMap(({ content }) => (Array.isArray(content) ? content : []))
    const results = heard.flatMap((part: { type: string; content?: unknown }) =>
      part.type === 'tool_result' ? [JSON.stringify(part.content)] : [],
    )
    const answer: Answer = input ? { call: { tool: 'think', input } } : { text: results.join('\n') || 'done' }
    return answer
  })
  t.after(() => server.close())
  const agent = nativeOn(server)
  machine.settings({ metaInstruction: false, agents: [agent], ...settings })
  const run = (...flags: string[]) =>
    machine.run(['-p', 'mach die Kasse schöner', ...flags], { env: { ANTHROPIC_API_KEY: 'made-up-key' } })
  return { machine, run, offered, told }
}

const ask = (question: string) => ({ framework: 'reflect', question })

test(
  'our own agent calls think, is advised by a reader that has no such tool, and the third call without a person is refused',
  options,
  async (t) => {
    const { machine, run, offered, told } = await thinker(t, [ask('one?'), ask('two?'), ask('three?')])
    const { code, out, err } = await run('--think', 'auto')
    assert.equal(code, 0, err)
    golden(t, out)
    assert.deepEqual(offered.slice(0, 2), [['actor', 'think'], ['critic']])
    const notes = machine.history().flatMap((entry) => (entry.type === 'note' ? [entry.text] : []))
    // Whether the label came in time depends on the machine.
    golden(
      t,
      notes.filter((text) => !/^thinking: one (?:chose direct|did not name)/.test(text)),
    )
    // The machine's capabilities stand in the system prompt, and nowhere else.
    assert.deepEqual(
      told.map((text) => text.split('System Capabilities').length - 1),
      told.map(() => 1),
    )
  },
)

test('more calls can be allowed before: by a flag for the run, or by a setting', options, async (t) => {
  const inputs = [ask('one?'), ask('two?'), ask('three?')]
  const flagged = await thinker(t, inputs)
  const { code, out } = await flagged.run('--think', 'auto', '--think-calls', '3')
  golden(t, { code, out })
  const set = await thinker(t, inputs, { thinking: 'auto', thinkingCalls: 3 })
  golden(t, (await set.run()).out)
  assert.match((await flagged.run('--think-calls', 'many')).err, /--think-calls: found "many", allowed: a whole number/)
})

test('without thinking there is no such tool', options, async (t) => {
  const { run, offered } = await thinker(t, [])
  assert.equal((await run()).code, 0)
  assert.deepEqual(offered, [['actor']])
})
