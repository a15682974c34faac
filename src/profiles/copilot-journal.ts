import type { Journal } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { sincePrompt, sumOf } from './journal.ts'
import { listOf, loose, numberOf, textOf } from './jsonl.ts'

const dataOf = ({ data }: Loose) => loose(data)
const calls = (message: Loose) => listOf(message.toolRequests).length > 0

/** `~/.copilot/session-state/<session>/events.jsonl`, a line for each event. */
export const copilotJournal: Journal = {
  folder: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state'),
  file: /^[0-9a-f-]{36}\/events\.jsonl$/,
  read(lines, mark) {
    const since = sincePrompt(lines, mark, ({ type }) => type === 'user.message')
    if (!since) return undefined
    const of = (wanted: string) => since.filter(({ type }) => type === wanted).map(dataOf)
    const messages = of('assistant.message')
    const last = messages.at(-1)
    const answer = messages
      .slice(messages.findLastIndex(calls) + 1)
      .map(({ content }) => textOf(content) ?? '')
      .join('\n\n')
    const usage = sumOf(
      of('session.usage_record')
        .map(({ usage }) => loose(usage))
        .map(({ inputTokens, outputTokens, cacheReadTokens }) => ({
          input: numberOf(inputTokens),
          output: numberOf(outputTokens),
          cached: numberOf(cacheReadTokens),
        })),
    )
    const error = textOf(of('session.error').at(-1)?.message)
    const ended = since.at(-1)?.type === 'assistant.turn_end' && last !== undefined && !calls(last)
    return {
      ...(error !== undefined ? { fault: error } : answer === '' ? {} : { answer }),
      ...(usage ? { usage } : {}),
      over: ended || error !== undefined || of('abort').length > 0,
    }
  },
}
