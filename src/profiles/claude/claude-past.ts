import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import type { Loose } from '../shared/jsonl.ts'
import { basename, join } from 'node:path'
import { contentText, idOf, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { timeOf } from '../shared/past-time.ts'

/** Text that Claude Code itself wrote in place of a prompt: the name and output of a slash command, a caveat, a finished task. */
const notTyped =
  /^<(?:command-name|command-message|local-command-|bash-stdout|bash-stderr|task-notification|system-reminder)/

/** A command that the person typed after "!". */
const typedCommand = /^<bash-input>([^]*)<\/bash-input>$/

function promptText(content: unknown): string {
  const text = contentText(content)
  return typedCommand.exec(text)?.[1] ?? text
}

function usageOf(message: Loose, at: number | undefined): PastFact[] {
  const usage = loose(message.usage)
  const cached = numberOf(usage.cache_read_input_tokens)
  const written = numberOf(usage.cache_creation_input_tokens)
  const input = numberOf(usage.input_tokens) + written + cached
  const output = numberOf(usage.output_tokens)
  if (input + output === 0) return []
  const model = textOf(message.model)
  const request = textOf(message.id)
  return [{ type: 'usage', at, input, output, cached, written, model, request }]
}

/** `<session>.jsonl`: one line for each block of a message; all lines of a message share its id and its usage. */
function claudeReader(file: string): PastReader {
  let told = false
  const counted = new Map<unknown, string>()

  function spoken(message: Loose, at: number | undefined, isError: boolean): PastFact[] {
    return listOf(message.content).flatMap((block): PastFact[] => {
      const text = textOf(block.text) ?? ''
      if (block.type === 'text' && text !== '')
        return isError ? [{ type: 'stop', at, by: 'failure', message: text }] : [{ type: 'reply', at, text }]
      if (block.type !== 'tool_use') return []
      return [{ type: 'call', at, call: idOf(block.id), tool: textOf(block.name) ?? 'tool', input: block.input }]
    })
  }

  function heard({ message, isMeta, isCompactSummary }: Loose, at: number | undefined): PastFact[] {
    const { content } = loose(message)
    const results = listOf(content).filter(({ type }) => type === 'tool_result')
    if (results.length > 0)
      return results.map(({ tool_use_id, content: output, is_error }) => ({
        type: 'result',
        at,
        call: idOf(tool_use_id),
        ok: is_error !== true,
        text: contentText(output),
      }))
    const text = promptText(content)
    if (text.startsWith('[Request interrupted')) return [{ type: 'stop', at, by: 'person', message: text }]
    return isMeta === true || isCompactSummary === true || notTyped.test(text) ? [] : [{ type: 'prompt', at, text }]
  }

  function steps(line: Loose, at: number | undefined): PastFact[] {
    const message = loose(line.message)
    if (line.type === 'user') return line.isSidechain === true ? [] : heard(line, at)
    if (line.type !== 'assistant') return []
    const said = line.isSidechain === true ? [] : spoken(message, at, line.isApiErrorMessage === true)
    // The last line of a message has the complete count; a message that was already counted is skipped.
    const count = JSON.stringify(message.usage) ?? ''
    const known = counted.get(message.id) === count || message.model === '<synthetic>'
    counted.set(message.id, count)
    return known ? said : [...said, ...usageOf(message, at)]
  }

  return (line) => {
    const cwd = textOf(line.cwd)
    const facts = steps(line, timeOf(line.timestamp))
    if (told || cwd === undefined) return facts
    told = true
    // A forked session contains lines of its origin: only the file's name identifies the session itself. A subagent's file names its
    // parent session.
    const name = basename(file, '.jsonl')
    return [{ type: 'session', key: name.startsWith('agent-') ? textOf(line.sessionId) : name, cwd }, ...facts]
  }
}

export const claudePast: PastSessions = {
  provider: 'anthropic',
  folder: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects'),
  file: /^[^/]+\/[0-9a-f-]{36}\.jsonl$/,
  inner: /^[^/]+\/(?:[0-9a-f-]{36}\/subagents\/)?agent-[^/]+\.jsonl$/,
  reader: claudeReader,
}
