import type { Asked, Reply, Speech, Tokens } from './script.ts'
import { json, stream, tokens } from './script.ts'
import { openaiTrouble } from './openai.ts'

const data = (body: object | string) => `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`

const head = (asked: Asked) => ({ id: `chatcmpl-${asked.count}`, created: 1_794_744_000, model: asked.body.model })

const chunk = (asked: Asked, delta: object, finish_reason: string | null = null) =>
  data({ ...head(asked), object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })

const counted = (used: Tokens) => ({
  prompt_tokens: used.input,
  completion_tokens: used.output,
  total_tokens: used.input + used.output,
  prompt_tokens_details: { cached_tokens: used.cached },
})

/** The same message streamed or whole, as the request wants it. */
function reply(asked: Asked, parts: object[], finish: string, used: Tokens = tokens): Reply {
  const usage = counted(used)
  if (asked.body.stream !== true) {
    const message = Object.assign({ role: 'assistant', content: null }, ...parts)
    return json(200, {
      ...head(asked),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    })
  }
  return stream(
    [
      chunk(asked, { role: 'assistant', content: '' }),
      ...parts.map((part) => chunk(asked, part)),
      chunk(asked, {}, finish),
      data({ ...head(asked), object: 'chat.completion.chunk', choices: [], usage }),
      data('[DONE]'),
    ].join(''),
  )
}

const calling = (asked: Asked, tool: string, input: unknown) => ({
  tool_calls: [
    {
      index: 0,
      id: `call_${asked.count}`,
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(input) },
    },
  ],
})

/** OpenAI Chat Completions, and everything that is compatible with it. */
export const chat: Speech = {
  wire: 'chat',
  hears: (path) => path.startsWith('/v1/chat/completions'),
  side: () => undefined,
  say(answer, asked) {
    if ('refusal' in answer) return reply(asked, [{ refusal: answer.refusal }], 'stop')
    const spoken = answer.text === undefined ? [] : [{ content: answer.text }]
    if ('call' in answer)
      return reply(asked, [...spoken, calling(asked, answer.call.tool, answer.call.input)], 'tool_calls', answer.usage)
    const thought = answer.thought === undefined ? [] : [{ reasoning_content: answer.thought }]
    return reply(asked, [...thought, ...spoken], 'stop', answer.usage)
  },
  half: (text, asked) => chunk(asked, { role: 'assistant', content: text }),
  trouble: openaiTrouble,
}
