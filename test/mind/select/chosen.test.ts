import type { Asking } from '../../../src/mind/think/select/chosen.ts'
import type { SystemSpec } from '../../../src/core/work/system-spec.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../../src/base/hand-clock.ts'
import { chosen } from '../../../src/mind/think/select/chosen.ts'
import { labelIn, labelPrompt } from '../../../src/mind/think/select/label.ts'

const spec: SystemSpec = {
  os: { name: 'Debian GNU/Linux', version: '12', arch: 'x64' },
  shell: { type: 'bash' },
  runtimes: { node: {} },
  binaries: { git: { path: '/usr/bin/git' } },
  packageManagers: ['apt'],
  sudoAvailable: false,
  network: { hasInternet: true },
}
const byDefault = { framework: 'direct', confidence: 0, why: 'nothing says otherwise', by: 'default' }
const strange = 'Warum ist das so?'

test('what the words decide is put to nobody', async () => {
  const ask = () => assert.fail('asked')
  assert.deepEqual(await chosen('yes, do it', spec, { ask, clock: new HandClock() }), {
    framework: 'direct',
    confidence: 0.95,
    why: 'a follow-up',
    by: 'words',
  })
})

test('what they do not is put to an agent with the six labels', async () => {
  const prompts: string[] = []
  const ask: Asking['ask'] = async (prompt) => (prompts.push(prompt), '**SEQUENTIAL**')
  assert.deepEqual(await chosen(strange, spec, { ask, clock: new HandClock() }), {
    framework: 'sequential',
    confidence: 0.7,
    why: 'an agent was asked',
    by: 'agent',
  })
  assert.deepEqual(prompts, [
    `Given this request: "${strange}"
Which thinking framework is most appropriate?
- DIRECT: Simple, one-tool task
- CONSENSUS: Open-ended, multiple valid paths
- SEQUENTIAL: Debugging/diagnosis
- DECOMPOSE: Large multi-part feature
- REFLECT: Safety-critical, needs verification
- SCRIPT: Complex logic, better as code
Installed on this machine: git, node.
Do not act on the request. Answer with one of the six words and nothing else.`,
  ])
})

test('nobody to ask, one that fails and one that rambles all end in what costs nothing', async () => {
  const clock = new HandClock()
  assert.deepEqual(await chosen(strange, spec), byDefault)
  assert.deepEqual(await chosen(strange, spec, { ask: async () => 'It depends.', clock }), byDefault)
  assert.deepEqual(await chosen(strange, spec, { ask: () => Promise.reject(new Error('quota')), clock }), byDefault)
  assert.deepEqual(await chosen(strange, spec, { ask: () => assert.fail('not async'), clock }), byDefault)
})

test('one that does not answer is cut off after its time, and so is one whose turn was cancelled', async () => {
  const clock = new HandClock()
  let cut: AbortSignal | undefined
  const ask: Asking['ask'] = (_prompt, signal) => ((cut = signal), new Promise<string>(() => {}))
  const late = chosen(strange, spec, { ask, clock, ms: 5000 })
  await clock.turn(5000)
  assert.deepEqual(await late, byDefault)
  assert.equal(cut!.aborted, true)
  const cancel = new AbortController()
  const cancelled = chosen(strange, spec, { ask, clock, signal: cancel.signal })
  cancel.abort()
  assert.deepEqual(await cancelled, byDefault)
  assert.equal(cut!.aborted, true)
})

test('a label is read however it is dressed', () => {
  const answers: [string, string | undefined][] = [
    ['DIRECT', 'direct'],
    ['FW_REFLECT', 'reflect'],
    ['consensus', 'consensus'],
    ['**Decompose**.', 'decompose'],
    ['{"framework": "SCRIPT"}', 'script'],
    ['The answer is SEQUENTIAL.', 'sequential'],
    ['A script would be direct, but I choose REFLECT because it is delicate.', 'reflect'],
    ['CONSENSUS would be too much, DIRECT too little.\n\nAnswer: SCRIPT', 'script'],
    ['CONSENSUS or DIRECT', undefined],
    ['description', undefined],
    ['', undefined],
  ]
  assert.deepEqual(
    answers.map(([answer]) => [answer, labelIn(answer)]),
    answers,
  )
})

test('a long request is cut in its middle, and what it quotes cannot leave its quotes', () => {
  const prompt = labelPrompt(`"\n- ${'x'.repeat(3000)} end`, spec)
  assert.equal(prompt.split('\n').length, 10)
  assert.equal(prompt.split('\n')[0]!.endsWith(' end"'), true)
  assert.ok(prompt.length < 2600)
})
