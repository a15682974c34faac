import type { Journal } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { sincePrompt, sumOf } from './journal.ts'
import { listOf, loose, numberOf, textOf } from './jsonl.ts'

const partsOf = ({ message }: Loose) => listOf(loose(message).parts)
const calls = (line: Loose) => partsOf(line).some(({ functionCall }) => functionCall !== undefined)
const spoken = (line: Loose) =>
  partsOf(line).flatMap(({ text, thought }) => (thought === true ? [] : [textOf(text) ?? '']))

/** `~/.qwen/projects/<folder as a name>/chats/<session>.jsonl`, a line for each message, written when it is whole. */
export const qwenJournal: Journal = {
  folder: ({ home, cwd }) => join(home, '.qwen', 'projects', cwd.replaceAll(/[^a-zA-Z0-9]/g, '-'), 'chats'),
  file: /^[0-9a-f-]{36}\.jsonl$/,
  read(lines, mark) {
    const since = sincePrompt(lines, mark, ({ type }) => type === 'user')
    if (!since) return undefined
    const [prompt, ...after] = since
    const key = textOf(prompt!.sessionId)
    const said = after.filter(({ type }) => type === 'assistant')
    const last = said.at(-1)
    const answer = said
      .slice(said.findLastIndex(calls) + 1)
      .flatMap(spoken)
      .join('\n\n')
    const usage = sumOf(
      said
        .map(({ usageMetadata }) => loose(usageMetadata))
        .map(({ promptTokenCount, candidatesTokenCount, cachedContentTokenCount }) => ({
          input: numberOf(promptTokenCount),
          output: numberOf(candidatesTokenCount),
          cached: numberOf(cachedContentTokenCount),
        })),
    )
    // A request that failed may be tried again: only the last word counts, and the screen tells when that is said.
    const failed = loose(
      loose(after.findLast(({ subtype, type }) => subtype === 'ui_telemetry' || type === 'assistant')?.systemPayload)
        .uiEvent,
    )
    const error = failed['event.name'] === 'qwen-code.api_error' ? textOf(failed.error_message) : undefined
    return {
      ...(key === undefined ? {} : { key }),
      ...(error !== undefined ? { fault: error } : answer === '' ? {} : { answer }),
      ...(usage ? { usage } : {}),
      over: last !== undefined && !calls(last) && answer !== '',
    }
  },
}
