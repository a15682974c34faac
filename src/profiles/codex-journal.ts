import type { Journal } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { sincePrompt, sumOf } from './journal.ts'
import { contentText, loose, numberOf, textOf } from './jsonl.ts'

const isPrompt = ({ type, payload }: Loose) => {
  const { type: kind, role } = loose(payload)
  return type === 'response_item' && kind === 'message' && role === 'user'
}

/** `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`, from the first prompt on. */
export const codexJournal: Journal = {
  folder: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'sessions'),
  file: /^\d{4}\/\d\d\/\d\d\/rollout-[^/]+\.jsonl$/,
  read(lines, mark) {
    const since = sincePrompt(lines, mark, isPrompt)
    if (!since) return undefined
    const events = since.map(({ type, payload }): Loose => ({ ...loose(payload), line: type }))
    const key = textOf(events.find(({ thread_id }) => thread_id !== undefined)?.thread_id)
    const over = events.find(
      ({ line, type }) => line === 'event_msg' && (type === 'task_complete' || type === 'turn_aborted'),
    )
    const spoken = events.flatMap(({ line, type, role, content }) =>
      line === 'response_item' && type === 'message' && role === 'assistant' ? [contentText(content)] : [],
    )
    const error = textOf(loose(over?.error).message)
    const answer = textOf(over?.last_agent_message) ?? spoken.at(-1)
    const usage = sumOf(
      events
        .filter(({ line }) => line === 'token_usage_record')
        .map(({ usage }) => loose(usage))
        .map(({ input_tokens, output_tokens, cached_input_tokens }) => ({
          input: numberOf(input_tokens),
          output: numberOf(output_tokens),
          cached: numberOf(cached_input_tokens),
        })),
    )
    return {
      ...(key === undefined ? {} : { key }),
      ...(error !== undefined ? { fault: error } : answer === undefined ? {} : { answer }),
      ...(usage ? { usage } : {}),
      over: over !== undefined,
    }
  },
}
