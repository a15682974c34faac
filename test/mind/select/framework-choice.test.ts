import type { SelectorQuestion } from '../../../src/mind/think/select/framework-choice.ts'
import type { SystemSpec } from '../../../src/core/work/system-spec.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { HandClock } from '../../../src/base/hand-clock.ts'
import { chooseFramework } from '../../../src/mind/think/select/framework-choice.ts'
import { parseLabel, labelPrompt } from '../../../src/mind/think/select/framework-choice.ts'

const spec: SystemSpec = {
  os: { name: 'Debian GNU/Linux', version: '12', arch: 'x64' },
  shell: { type: 'bash' },
  runtimes: { node: {} },
  binaries: { git: { path: '/usr/bin/git' } },
  packageManagers: ['apt'],
  sudoAvailable: false,
  network: { hasInternet: true },
}
const here = async () => spec
const byDefault = { framework: 'direct', confidence: 0, why: 'nothing says otherwise', by: 'default' }
const strange = 'Warum ist das so?'

test('what the words decide is put to nobody', async () => {
  const ask = () => assert.fail('asked')
  assert.deepEqual(await chooseFramework('yes, do it', here, { ask, clock: new HandClock() }), {
    framework: 'direct',
    confidence: 0.95,
    why: 'a follow-up',
    by: 'words',
  })
})

test('what they do not is put to an agent with the six labels', async () => {
  const prompts: string[] = []
  const ask: SelectorQuestion['ask'] = async (prompt) => (prompts.push(prompt), '**SEQUENTIAL**')
  assert.deepEqual(await chooseFramework(strange, here, { ask, clock: new HandClock() }), {
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
Do not act on the request. Answer with one of these words and nothing else.`,
  ])
})

test('nobody to ask, one that fails and one that rambles all end in what costs nothing', async () => {
  const clock = new HandClock()
  assert.deepEqual(await chooseFramework(strange, here), byDefault)
  assert.deepEqual(await chooseFramework(strange, here, { ask: async () => 'It depends.', clock }), byDefault)
  assert.deepEqual(
    await chooseFramework(strange, here, { ask: () => Promise.reject(new Error('quota')), clock }),
    byDefault,
  )
  assert.deepEqual(await chooseFramework(strange, here, { ask: () => assert.fail('not async'), clock }), byDefault)
})

test('a machine that cannot be looked at is nobody to ask, and one is looked at only to ask', async () => {
  const clock = new HandClock()
  const broken = () => Promise.reject(new Error('disk'))
  assert.deepEqual(await chooseFramework(strange, broken, { ask: async () => 'SCRIPT', clock }), byDefault)
  assert.equal((await chooseFramework('run the tests', () => assert.fail('looked'))).framework, 'direct')
})

test('in a talk a few words that go on with it cost nothing, whatever they would mean alone', async () => {
  const asking = { ask: () => assert.fail('asked'), clock: new HandClock() }
  const talk = [
    'why?',
    'fix it',
    'make it faster',
    'improve it',
    'compare them',
    'why did that fail?',
    'it still fails',
    'now deploy that',
    'optimize this.',
    'now convert it to pdf instead',
    'now parse those too',
    'extract it into a function',
    'try the second approach instead',
    'host it somewhere',
    'is there a better way to do that?',
    strange,
  ]
  for (const words of talk) {
    const alone = await chooseFramework(words, here)
    const { framework, why } = await chooseFramework(words, here, asking, true)
    assert.deepEqual([words, framework, why], [words, 'direct', 'a follow-up'])
    assert.notDeepEqual([alone.framework, alone.by], ['direct', 'words'], words)
  }
})

test('in a talk what stands for itself, or must be right, is thought about as ever', async () => {
  const own: [string, string][] = [
    ['Add authentication to this app', 'decompose'],
    ['why does this test fail?', 'sequential'],
    ['Convert docx to pdf', 'consensus'],
    ['Parse this JSON and extract all emails', 'script'],
    ['write a migration for it', 'reflect'],
    ['why is my build failing since I merged the branch and cleaned it?', 'sequential'],
  ]
  for (const [words, framework] of own)
    assert.deepEqual([words, (await chooseFramework(words, here, undefined, true)).framework], [words, framework])
})

test('one that does not answer is cut off after its time, and so is one whose turn was cancelled', async () => {
  const clock = new HandClock()
  let cut: AbortSignal | undefined
  const ask: SelectorQuestion['ask'] = (_prompt, signal) => ((cut = signal), new Promise<string>(() => {}))
  const late = chooseFramework(strange, here, { ask, clock, ms: 5000 })
  await clock.turn(5000)
  assert.deepEqual(await late, byDefault)
  assert.equal(cut!.aborted, true)
  const cancel = new AbortController()
  const cancelled = chooseFramework(strange, here, { ask, clock, signal: cancel.signal })
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
    answers.map(([answer]) => [answer, parseLabel(answer)]),
    answers,
  )
})

test('a long request is cut in its middle, and what it quotes cannot leave its quotes', () => {
  const prompt = labelPrompt(`"\n- ${'x'.repeat(3000)} end`, spec)
  assert.equal(prompt.split('\n').length, 10)
  assert.equal(prompt.split('\n')[0]!.endsWith(' end"'), true)
  assert.ok(prompt.length < 2600)
})
