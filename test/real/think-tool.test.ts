import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { fullOnly } from '../full.ts'
import { machine } from './three.ts'

const told = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })

const finding = { severity: 'must', head: 'bugs', where: 'till.ts:3', what: 'it rounds down', mend: 'round half up' }

const question = (at: number) => `Is the till right, take ${at}?`

/** The name under which a CLI offers its model our tool. */
function thinkTool({ text }: Asked): string | undefined {
  return /"name":"([^"]*termaite_turn[^"]*think|think)"/.exec(text)?.[1]
}

/** How often the model of a turn has called already, by the results that it is sent. */
const called = ({ text }: Asked) =>
  text.split(/"type":"(?:tool_result|function_call_output)"|"role":"tool"|"functionResponse":/).length - 1

/** CLIs beside the three, and Gemini as an ACP agent: headless it takes an MCP server only from its own settings. */
const others = [
  { name: 'qwen', profile: 'qwen', contextWindowTokens: 200_000 },
  { name: 'copilot', profile: 'copilot', contextWindowTokens: 128_000 },
  { name: 'qwen-screen', profile: 'qwen', kind: 'screen', contextWindowTokens: 200_000 },
  { name: 'gemini-acp', profile: 'gemini', kind: 'acp', contextWindowTokens: 1_000_000 },
]

for (const agent of ['claude', 'codex', ...others.map(({ name }) => name)])
  test(
    `${agent} calls think over MCP: it is advised, waits for nothing twice, and the third call is refused`,
    { skip: agent === 'qwen-screen' && fullOnly },
    async (t) => {
      const asked: string[] = []
      const answers: string[] = []
      const { run, history } = await machine(
        t,
        (request): Answer => {
          if (request.text.includes('You review work before')) {
            asked.push(`critic on ${request.wire}${thinkTool(request) ? ' with think' : ''}`)
            return told({ findings: [finding] })
          }
          const tool = thinkTool(request)
          const count = called(request)
          asked.push(`actor ${count}${tool ? ' with think' : ''}`)
          if (tool && count < 3) return { call: { tool, input: { framework: 'reflect', question: question(count) } } }
          answers.push(request.text)
          return { text: 'The till is right now.' }
        },
        { metaInstruction: false, thinking: 'auto', others },
      )
      const { code, out, err } = await run('-p', 'mach die Kasse schöner', '-a', agent, '--leash', 'all')
      assert.deepEqual({ code, out }, { code: 0, out: 'The till is right now.\n' }, err)
      assert.deepEqual(
        // On a screen Qwen asks its model once more when the turn is over, for a suggestion.
        asked.slice(0, 6).map((line) => line.replace(/on .*/, '')),
        ['actor 0 with think', 'critic ', 'actor 1 with think', 'critic ', 'actor 2 with think', 'actor 3 with think'],
      )
      assert.match(answers[0]!, /it rounds down/)
      assert.match(answers[0]!, /This call was refused: reflect takes 1 extra call, 2 calls were made/)
      const notes = history().flatMap((entry) => (entry.type === 'note' ? [entry.text] : []))
      assert.deepEqual(
        notes
          .filter((text) => text.startsWith('thinking: the agent asked'))
          .map((text) => text.replace(/\(.*\)/, '(somebody)')),
        [
          'thinking: the agent asked for reflect: Is the till right, take 0?; 1 extra call (somebody)',
          'thinking: the agent asked for reflect: Is the till right, take 1?; 1 extra call (somebody)',
          'thinking: the agent asked for reflect: Is the till right, take 2?; refused, because nobody is here to agree to 1 extra call',
        ],
      )
      const verdict = history().find(({ type }) => type === 'verdict')
      assert.deepEqual(verdict?.type === 'verdict' && [verdict.framework, verdict.calls], ['direct', 2])
    },
  )

test('advice that takes longer than an MCP client waits is fetched by a second call, and thought about once', async (t) => {
  let reviews = 0
  const results: string[] = []
  const { run } = await machine(
    t,
    async (request): Promise<Answer> => {
      if (request.text.includes('You review work before')) {
        reviews++
        await new Promise((resolve) => setTimeout(resolve, 53_000))
        return told({ findings: [finding] })
      }
      const tool = thinkTool(request)
      if (tool && called(request) < 2) return { call: { tool, input: { framework: 'reflect', question: question(0) } } }
      results.push(request.text)
      return { text: 'The till is right now.' }
    },
    { metaInstruction: false, thinking: 'auto' },
  )
  const { code, err } = await run('-p', 'mach die Kasse schöner', '-a', 'claude', '--leash', 'all')
  assert.equal(code, 0, err)
  assert.match(results[0]!, /retry: the agents that were asked are still thinking\. Call think again now/)
  assert.match(results[0]!, /it rounds down/)
  assert.equal(reviews, 1)
})
