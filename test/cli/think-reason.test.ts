import type { Answer, Asked } from '../real/model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

type Message = { role: string; content: unknown }

const json = (value: unknown): Answer => ({ text: `Well.\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })

/** The last request, and how many tools were used since. */
function lastOf({ body }: Asked) {
  const messages = (body as { messages: Message[] }).messages
  const isResult = ({ content }: Message) => JSON.stringify(content).includes('"tool_result"')
  const at = messages.findLastIndex((message) => message.role === 'user' && !isResult(message))
  return { prompt: JSON.stringify(messages[at]!.content), used: messages.slice(at).filter(isResult).length }
}

/** A project whose sum subtracts, and two agents of ours on a model that answers by what it is asked. */
async function broken(t: TestContext, answer: (prompt: string) => Answer | 'fixes') {
  const machine = new Machine(t)
  const sum = join(machine.project, 'sum.cjs')
  const server = await modelServer((asked) => {
    const { prompt, used } = lastOf(asked)
    const said = answer(prompt)
    if (said !== 'fixes') return said
    if (used === 0) return { call: { tool: 'file_reader', input: { file_path: sum } } }
    const edits = [{ old_string: 'a - b', new_string: 'a + b' }]
    return used === 1 ? { call: { tool: 'file_editor', input: { file_path: sum, edits } } } : { text: 'It adds.' }
  })
  t.after(() => server.close())
  const agents = ['one', 'two'].map((name) => ({
    name,
    kind: 'native',
    model: 'anthropic/claude-sonnet-4-5',
    baseURL: `${server.url}/v1`,
    contextWindowTokens: 200_000,
  }))
  machine.settings({ metaInstruction: false, agents })
  writeFileSync(sum, 'exports.sum = (a, b) => a - b\n')
  writeFileSync(join(machine.project, 'check.cjs'), `process.exit(require('./sum.cjs').sum(1, 2) === 3 ? 0 : 1)\n`)
  writeFileSync(join(machine.project, 'package.json'), '{"scripts":{"test":"node check.cjs"}}')
  const run = (how: string) =>
    machine.run(['-p', 'sum is wrong, fix it', '--think', how, '--leash', 'all'], {
      env: { ANTHROPIC_API_KEY: 'made-up-key' },
    })
  return { machine, run, text: () => readFileSync(sum, 'utf8') }
}

/** The kept entries as short texts, without the outputs of tools. */
const story = (machine: Machine) =>
  machine.history().flatMap((entry): string[] => {
    if (entry.type === 'note' || entry.type === 'reply') return [`${entry.by}: ${entry.text}`]
    if (entry.type === 'call' && entry.tool === 'bash') return [`$ ${(entry.input as { command: string }).command}`]
    return entry.type === 'verdict' ? [`${entry.by}, passed: ${entry.passed}, ${entry.calls} asked`] : []
  })

test('sequential: causes are looked for on the machine itself, and a claim is no fix', options, async (t) => {
  const hypotheses = [
    { cause: 'sum.cjs is missing', why: 'a guess', diagnostic: 'ls sum.cjs', expects: 'no such file' },
    { cause: 'sum subtracts', why: 'its name', diagnostic: 'node check.cjs', expects: 'exit 1' },
  ]
  const { machine, run, text } = await broken(t, (prompt) => {
    if (prompt.includes('You are a diagnostician')) return json({ wants: 'fix', hypotheses })
    if (prompt.includes('sum.cjs is missing\\nwhy'))
      return json({ verdict: 'rejected', quote: 'sum.cjs', why: 'it is there' })
    if (prompt.includes('You decide'))
      return json({ verdict: 'confirmed', quote: 'a - b', file: 'sum.cjs', why: 'it subtracts' })
    return prompt.includes('check failed') ? 'fixes' : { text: 'I fixed it, trust me.' }
  })
  const { code, out, err } = await run('sequential')
  assert.deepEqual({ code, out }, { code: 0, out: 'It adds.\n' }, err)
  assert.deepEqual(story(machine), [
    'termaite: thinking: sequential, you chose it',
    '$ ls sum.cjs',
    'termaite: rejected: sum.cjs is missing (`ls sum.cjs`: sum.cjs)',
    '$ node check.cjs',
    'termaite: confirmed: sum subtracts (sum.cjs: a - b)',
    'one: I fixed it, trust me.',
    '$ node check.cjs',
    'termaite: the check failed: `node check.cjs` exited with 1; trying the fix for “sum subtracts” once more',
    'one: It adds.',
    '$ node check.cjs',
    'one, passed: true, 3 asked',
  ])
  assert.equal(text(), 'exports.sum = (a, b) => a + b\n')
})

test("reflect: another agent finds the faults, and the project's own tests decide", options, async (t) => {
  const flaw = { severity: 'must', head: 'bugs', where: 'sum.cjs:1', what: 'it still subtracts', mend: 'add' }
  const { machine, run, text } = await broken(t, (prompt) => {
    if (prompt.includes('You review work')) return json({ findings: [flaw] })
    return prompt.includes('reviewed your work') ? 'fixes' : { text: 'I fixed it, trust me.' }
  })
  const { code, out, err } = await run('reflect')
  assert.deepEqual({ code, out }, { code: 0, out: 'It adds.\n' }, err)
  golden(t, story(machine))
  assert.equal(text(), 'exports.sum = (a, b) => a + b\n')
})

test(
  'reflect: a test that was red before the turn is no fault of the turn, and the answer is printed',
  options,
  async (t) => {
    const { machine, run, text } = await broken(t, (prompt) => {
      if (prompt.includes('You review work')) return json({ findings: [] })
      return prompt.includes('You judge')
        ? json({ passed: true, quote: 'a + b', file: 'sum.cjs', why: 'seen' })
        : 'fixes'
    })
    writeFileSync(join(machine.project, 'old.cjs'), `console.log('not ok 1 - an old fault')\nprocess.exit(1)\n`)
    writeFileSync(join(machine.project, 'package.json'), '{"scripts":{"test":"node check.cjs; node old.cjs"}}')
    const { code, out, err } = await run('reflect')
    assert.deepEqual({ code, out }, { code: 0, out: 'It adds.\n' }, err)
    golden(t, story(machine))
    assert.equal(text(), 'exports.sum = (a, b) => a + b\n')
  },
)
