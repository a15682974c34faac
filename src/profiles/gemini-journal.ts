import type { Journal } from '../core/screen/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { lineOf, sumOf } from './journal.ts'
import { contentText, listOf, loose, numberOf, textOf } from './jsonl.ts'

/** A message is written anew, under its id, when more of it is known; `$set` with messages begins the list anew. */
function messagesOf(lines: readonly Loose[]): Loose[] {
  let all = new Map<unknown, Loose>()
  for (const line of lines) {
    const whole = loose(line.$set).messages
    if (whole !== undefined) all = new Map(listOf(whole).map((message) => [message.id, message]))
    else if (line.id !== undefined) all.set(line.id, line)
  }
  return [...all.values()]
}

/**
 * `~/.gemini/tmp/<project>/chats/session-*.jsonl`. It says nothing when a turn is over,
 * and names a call only after it ran: the screen tells when.
 */
export const geminiJournal: Journal = {
  folder: ({ home, env }) => join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp'),
  file: /^[^/]+\/chats\/session-[^/]+\.jsonl$/,
  read(lines, mark) {
    // The lines are long, and a file of another session is read in vain.
    if (!lines.some((line) => line.includes(mark))) return undefined
    const parsed = lines.map(lineOf)
    const messages = messagesOf(parsed)
    const at = messages.findLastIndex(({ type, content }) => type === 'user' && contentText(content).includes(mark))
    if (at < 0) return undefined
    const after = messages.slice(at + 1)
    const key = textOf(parsed[0]?.sessionId)
    const said = after.filter(({ type }) => type === 'gemini')
    const lastCall = said.findLastIndex(({ toolCalls }) => listOf(toolCalls).length > 0)
    const answer = said
      .slice(lastCall + 1)
      .map(({ content }) => contentText(content))
      .filter((text) => text !== '')
      .join('\n\n')
    const last = after.at(-1)
    const usage = sumOf(
      said
        .map(({ tokens }) => loose(tokens))
        .filter(({ input }) => input !== undefined)
        .map(({ input, output, thoughts, cached }) => ({
          input: numberOf(input),
          output: numberOf(output) + numberOf(thoughts),
          cached: numberOf(cached),
        })),
    )
    return {
      ...(key === undefined ? {} : { key }),
      ...(last?.type === 'error' ? { fault: contentText(last.content) } : answer === '' ? {} : { answer }),
      ...(usage ? { usage } : {}),
      // "Request cancelled."
      ...(last?.type === 'info' || last?.type === 'error' ? { over: true } : {}),
    }
  },
}
