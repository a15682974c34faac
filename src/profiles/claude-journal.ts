import type { Journal } from '../core/work/profile.ts'
import type { Loose } from './jsonl.ts'
import { join } from 'node:path'
import { sincePrompt, sumOf } from './journal.ts'
import { listOf, loose, numberOf, textOf } from './jsonl.ts'

/** The prompts that a person or we gave; results of tools are of the same type. */
function isPrompt({ type, message, isMeta }: Loose): boolean {
  return (
    type === 'user' && isMeta !== true && !listOf(loose(message).content).some(({ type }) => type === 'tool_result')
  )
}

const textsOf = (content: unknown) =>
  listOf(content).flatMap(({ type, text }) => (type === 'text' ? [textOf(text) ?? ''] : []))

/** It writes one line for each block of a message, with the same id and the same count. */
function usageOf(messages: readonly Loose[]) {
  const byId = new Map(messages.map((message) => [message.id, loose(message.usage)]))
  return sumOf(
    [...byId.values()].map((usage) => {
      const cached = numberOf(usage.cache_read_input_tokens)
      const input = numberOf(usage.input_tokens) + numberOf(usage.cache_creation_input_tokens) + cached
      return { input, output: numberOf(usage.output_tokens), cached }
    }),
  )
}

/** `~/.claude/projects/<folder as a name>/<session>.jsonl`, a line for each thing that happens. */
export const claudeJournal: Journal = {
  folder: ({ home, cwd, env }) => {
    const projects = join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects')
    const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, '-')
    // A longer name is cut and ends in a number that only it can tell.
    return name.length > 200 ? projects : join(projects, name)
  },
  file: /^(?:[^/]+\/)?[0-9a-f-]{36}\.jsonl$/,
  read(lines, mark) {
    const since = sincePrompt(lines, mark, isPrompt)
    if (!since) return undefined
    const [prompt, ...after] = since
    const key = textOf(prompt!.sessionId)
    const own = after.filter(({ isSidechain }) => isSidechain !== true)
    const said = own.filter(({ type }) => type === 'assistant')
    const messages = said.map(({ message }) => loose(message))
    const lastCall = messages.findLastIndex(({ content }) => listOf(content).some(({ type }) => type === 'tool_use'))
    const answer = messages
      .slice(lastCall + 1)
      .flatMap(({ content }) => textsOf(content))
      .join('\n\n')
    const failed = said.at(-1)?.isApiErrorMessage === true
    const usage = usageOf(messages.filter(({ usage, model }) => usage !== undefined && model !== '<synthetic>'))
    const over = own.some(
      ({ type, subtype, message }) =>
        (type === 'system' && subtype === 'turn_duration') ||
        // "[Request interrupted by user for tool use]"
        (type === 'user' && textsOf(loose(message).content).some((text) => text.startsWith('[Request interrupted'))),
    )
    return {
      ...(key === undefined ? {} : { key }),
      ...(failed ? { fault: answer } : answer === '' ? {} : { answer }),
      ...(usage ? { usage } : {}),
      over,
    }
  },
}
