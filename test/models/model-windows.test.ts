import { test } from 'node:test'
import assert from 'node:assert/strict'
import { costOf } from '../../src/models/http/model-answer.ts'
import { modelName } from '../../src/models/provider.ts'
import { editFormOf, knownOf } from '../../src/models/model-windows.ts'

test('a model is known by its name, at any date, and elsewhere without its price', () => {
  const sonnet = knownOf('anthropic', 'claude-sonnet-4-5')
  assert.deepEqual(sonnet, {
    window: 200_000,
    output: 64_000,
    thinks: 'budget',
    price: { input: 3, cached: 0.3, output: 15, written: 3.75 },
  })
  assert.deepEqual(knownOf('anthropic', 'claude-sonnet-4-5-20250929'), sonnet)
  const { price: _price, ...elsewhere } = sonnet
  assert.deepEqual(knownOf('openrouter', 'anthropic/claude-sonnet-4.5:beta'), elsewhere)
  assert.deepEqual(knownOf('compatible', 'openai/gpt-oss-120b'), { window: 131_072, thinks: 'effort', blind: true })
})

test('a model newer than the table is known by its family, and has no price', () => {
  assert.deepEqual(knownOf('anthropic', 'claude-opus-7'), { window: 200_000, thinks: 'adaptive' })
  assert.deepEqual(knownOf('anthropic', 'claude-3-5-haiku-20241022'), { window: 200_000, thinks: 'budget' })
  assert.deepEqual(knownOf('openai', 'gpt-7'), { window: 272_000, thinks: 'effort', edits: 'patch' })
  assert.deepEqual(knownOf('google', 'gemini-5-pro'), { window: 1_048_576, thinks: 'level' })
  assert.deepEqual(knownOf('llamacpp', 'gemma.gguf'), { window: 128_000 })
})

test('models change files in the form that they were trained on, wherever they are served', () => {
  const patches = [
    'openai/gpt-5',
    'openai/gpt-6.1-sol',
    'openai/gpt-4.1-mini',
    'openai/o4-mini',
    'openrouter/openai/gpt-5.4',
  ]
  assert.deepEqual(
    patches.map(editFormOf),
    patches.map(() => 'patch'),
  )
  const texts = ['openai/gpt-4o', 'openai/gpt-5-chat', 'openai/gpt-5.2-chat-latest', 'groq/openai/gpt-oss-120b']
  const others = [...texts, 'anthropic/claude-opus-5-5', 'google/gemini-3-pro', 'ollama/qwen3', 'nonsense']
  assert.deepEqual(
    others.map(editFormOf),
    others.map(() => 'edits'),
  )
})

test('a cost is what the provider says, else what the price makes, else unknown', () => {
  const { price } = knownOf('anthropic', 'claude-haiku-5-5')
  const million = { input: 1_000_000, output: 1_000_000, cached: 0 }
  assert.equal(costOf({ ...million, cost: 0.25 }, price), 0.25)
  assert.equal(costOf(million, undefined), undefined)
  assert.equal(costOf({ input: 100_000, output: 1000, cached: 80_000, written: 10_000 }, price), 0.00355)
  assert.equal(costOf(million, price), 3, 'a long request is dearer')
})

test('a model is named by its provider and its name, which may have slashes', () => {
  assert.deepEqual(modelName('groq/openai/gpt-oss-120b'), { provider: 'groq', model: 'openai/gpt-oss-120b' })
  assert.deepEqual(modelName('toString/x'), {
    wrong:
      'there is no provider toString; use one of anthropic, openai, google, groq, openrouter, ollama, lmstudio, llamacpp, bedrock, vertex, azure, compatible',
  })
})
