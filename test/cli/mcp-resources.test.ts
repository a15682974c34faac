import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { hiddenClone } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'

const options = { timeout: 60_000, skip: hiddenClone }

/** One turn in which the model lists and reads a resource, under these rules. */
async function turn(t: TestContext, permissions: object) {
  const call = (input: object) => ({ call: { tool: 'more_tools', input: { name: 'mcp__notes__resources', input } } })
  const server = await modelServer(({ count }) => {
    // This call waits for the server; a tool of a server that is not connected yet needs a yes, whatever it does.
    if (count === 1) return { call: { tool: 'more_tools', input: { name: 'notes' } } }
    if (count === 2) return call({ find: 'today' })
    return count === 3 ? call({ uri: 'notes://today' }) : { text: 'Done.' }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  const script = join(import.meta.dirname, '../native/tools/mcp/scripted.ts')
  machine.settings({
    ...{ metaInstruction: false, thinking: 'off', permissions, agents: [{ ...agent, contextWindowTokens: 200_000 }] },
    mcpServers: { notes: { command: process.execPath, args: [script, '{"data":"usual"}'] } },
  })
  const { code } = await machine.run(['-p', 'look'], { env: { ANTHROPIC_API_KEY: 'made-up' } })
  const history = machine.history()
  const tools = history.flatMap((entry) => (entry.type === 'call' ? [[entry.tool, entry.via]] : []))
  const resources = ['mcp__notes__resources', 'more_tools']
  assert.deepEqual(tools, [['more_tools', undefined], resources, resources])
  return { code, results: history.flatMap((entry) => (entry.type === 'result' ? [entry.text] : [])).slice(1) }
}

const listed = '- notes://today: today. What is to be done.'

test(
  'a model lists resources without a question; reading one needs a yes, or a rule about the server',
  options,
  async (t) => {
    const nobody = await turn(t, {})
    assert.deepEqual([nobody.code, nobody.results[0]], [77, listed])
    assert.match(nobody.results[1]!, /^mcp__notes__resources was refused: .* nobody was there to say yes\./)
    assert.deepEqual(await turn(t, { allow: ['mcp__notes'] }), { code: 0, results: [listed, 'Buy milk.'] })
    const denied = await turn(t, { allow: ['mcp__notes'], deny: ['mcp__notes__resources'] })
    assert.match(denied.results[1]!, /^mcp__notes__resources was not allowed: the rule mcp__notes__resources denies it/)
  },
)
