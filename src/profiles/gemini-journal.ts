import type { Journal } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { sincePrompt, sumOf } from './journal.ts'
import { contentText, listOf, loose, numberOf } from './jsonl.ts'

const isPrompt = ({ type, content }: Loose) =>
  type === 'user' && !listOf(content).some(({ functionResponse }) => functionResponse !== undefined)

/** After these it writes its whole history anew, older turns among it. */
const breaks = ({ type, content }: Loose) =>
  type === 'error' || (type === 'info' && contentText(content).startsWith('Request cancelled'))

/**
 * `~/.gemini/tmp/<project>/chats/session-*.jsonl`. It says nothing when a turn is over,
 * and names a call only after it ran: the screen tells when.
 */
export const geminiJournal: Journal = {
  folder: ({ home, env }) => join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp'),
  file: /^[^/]+\/chats\/session-[^/]+\.jsonl$/,
  read(lines, mark) {
    const since = sincePrompt(lines, mark, isPrompt)
    if (!since) return undefined
    const end = since.findIndex(breaks)
    const broke = end < 0 ? undefined : since[end]
    // A message is written again, under its id, when more of it is known.
    const messages = new Map(since.slice(0, end < 0 ? undefined : end).map((line) => [line.id, line]))
    const said = [...messages.values()].filter(({ type }) => type === 'gemini')
    const lastCall = said.findLastIndex(({ toolCalls }) => listOf(toolCalls).length > 0)
    const answer = said
      .slice(lastCall + 1)
      .map(({ content }) => contentText(content))
      .filter((text) => text !== '')
      .join('\n\n')
    const usage = sumOf(
      said
        .map(({ tokens }) => loose(tokens))
        .map(({ input, output, thoughts, cached }) => ({
          input: numberOf(input),
          output: numberOf(output) + numberOf(thoughts),
          cached: numberOf(cached),
        })),
    )
    // Its first line names the session, where that is among what is read.
    const key = sessionOf(lines)
    return {
      ...(key === undefined ? {} : { key }),
      ...(broke?.type === 'error' ? { fault: contentText(broke.content) } : answer === '' ? {} : { answer }),
      ...(usage ? { usage } : {}),
      ...(broke ? { over: true } : {}),
    }
  },
}

const sessionOf = ([first = '']: readonly string[]) => /^\{"sessionId":"([0-9a-f-]{36})"/.exec(first)?.[1]
