import { after } from 'node:test'
import type { Act } from './server.ts'
import type { Speech } from '../real/model/script.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { openModel } from '../../src/models/open/open-model.ts'
import { anthropic } from '../real/model/anthropic.ts'
import { chat } from '../real/model/chat.ts'
import { gemini } from '../real/model/gemini.ts'
import { responses } from '../real/model/responses.ts'
import { json } from '../real/model/script.ts'
import { modelContract } from '../contract/model.ts'
import { counting, ollama, speaking } from './server.ts'
import { blobs } from './tap.ts'

const acts = new Map<string, Act>()
const server = await speaking(acts)
after(() => server.close())

const wires: [string, string, Pick<Speech, 'say' | 'half' | 'trouble'>, 'quota' | 'credit'][] = [
  ['Anthropic', 'anthropic/claude-sonnet-4-6', anthropic, 'credit'],
  ['OpenAI', 'openai/gpt-5.4', responses, 'quota'],
  ['Groq', 'groq/openai/gpt-oss-120b', chat, 'quota'],
  ['OpenRouter', 'openrouter/any/one', chat, 'quota'],
  ['LM Studio', 'lmstudio/any', chat, 'quota'],
  ['llama.cpp', 'llamacpp/any', chat, 'quota'],
  ['a compatible server', 'compatible/any', chat, 'quota'],
  ['Google', 'google/gemini-3.5-flash', gemini, 'quota'],
  ['Ollama', 'ollama/any', ollama, 'quota'],
]

for (const [name, model, speech, spent] of wires) {
  const count = counting()
  const made = (act: Act) => {
    const at = `${acts.size}`
    // Requests beside the turn have no answer here.
    acts.set(at, (asked) => (/api\/(show|ps)$/.test(asked.path) ? json(500, {}) : act(asked)))
    const base = `${server.url}/${at}/${model.startsWith('google') ? 'v1beta' : 'v1'}`
    return openModel({ model, baseURL: base }, { key: () => 'made-up', blobs, clock: realClock, fetch: count.fetch })
  }
  modelContract(name, {
    says: (text) => made((asked) => speech.say({ text }, asked)),
    calls: (tool, input) => made((asked) => speech.say({ call: { tool, input } }, asked)),
    fails: () => made(() => speech.trouble[spent]!),
    hangs: (text) => made((asked) => ({ half: speech.half(text, asked) })),
    running: count.open,
  })
}
