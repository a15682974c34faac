import type { PastFact, PastReader, PastSessions } from '../../core/profile/past-session.ts'
import type { Loose } from '../shared/jsonl.ts'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { contentText, idOf, listOf, loose, numberOf, textOf } from '../shared/jsonl.ts'
import { timeOf } from '../shared/past-time.ts'

const context = '<session_context>'

/** The folder in which a session ran; Gemini CLI mentions it only in its text for the model. */
const folderTold = /^- \*\*Workspace Directories:\*\*\n {2}- (.+)$/m

/**
 * `session-*.jsonl`. A message is written again under its id as it grows. After a failure Gemini CLI writes its history once more, under
 * new ids and without tokens, and finally sets all messages at once.
 */
function geminiReader(): PastReader {
  const said = new Map<string, { text: boolean; calls: Set<string>; usage: boolean }>()
  const prompts = new Set<string>()
  let again = false

  function asked(line: Loose, at: number | undefined): PastFact[] {
    const parts = typeof line.content === 'string' ? [{ text: line.content }] : listOf(line.content)
    if (parts.some(({ functionResponse }) => functionResponse !== undefined)) return []
    const text = contentText(parts.filter(({ text }) => !textOf(text)?.startsWith(context)))
    if (text === '' || (again && prompts.has(text))) return []
    again = false
    prompts.add(text)
    return [{ type: 'prompt', at, text }]
  }

  function calls(line: Loose, seen: Set<string>, at: number | undefined): PastFact[] {
    return listOf(line.toolCalls).flatMap(({ id, name, args, result, status }): PastFact[] => {
      const call = idOf(id)
      if (seen.has(call)) return []
      seen.add(call)
      const { output, error } = loose(loose(loose(listOf(result)[0]).functionResponse).response)
      const text = textOf(output) ?? textOf(error) ?? (output === undefined ? '' : JSON.stringify(output))
      return [
        { type: 'call', at, call, tool: textOf(name) ?? 'tool', input: args },
        { type: 'result', at, call, ok: status === 'success', text },
      ]
    })
  }

  function answered(line: Loose, at: number | undefined): PastFact[] {
    if (line.tokens === null && Array.isArray(line.content)) return []
    const id = idOf(line.id)
    const known = said.get(id) ?? { text: false, calls: new Set<string>(), usage: false }
    said.set(id, known)
    const text = contentText(line.content)
    const facts: PastFact[] = []
    if (!known.text && text !== '') facts.push({ type: 'reply', at, text })
    known.text ||= text !== ''
    facts.push(...calls(line, known.calls, at))
    const { input, output, thoughts, cached } = loose(line.tokens)
    if (!known.usage && numberOf(input) + numberOf(output) > 0) {
      known.usage = true
      const sum = { input: numberOf(input), output: numberOf(output) + numberOf(thoughts), cached: numberOf(cached) }
      facts.push(defined({ type: 'usage', at, ...sum, model: textOf(line.model), request: id }))
    }
    return facts
  }

  function about(messages: readonly Loose[]): PastFact[] {
    const text = messages.map(({ content }) => contentText(content)).find((one) => one.startsWith(context))
    const cwd = folderTold.exec(text ?? '')?.[1]
    return cwd === undefined ? [] : [{ type: 'session', cwd }]
  }

  return (line) => {
    const at = timeOf(line.timestamp)
    const messages = loose(line.$set).messages
    if (Array.isArray(messages)) {
      again = false
      return about(listOf(messages))
    }
    switch (line.type) {
      case undefined:
        return line.sessionId === undefined ? [] : [{ type: 'session', key: textOf(line.sessionId) }]
      case 'user':
        return [...about([line]), ...asked(line, at)]
      case 'gemini':
        return answered(line, at)
      case 'error':
        again = true
        return [{ type: 'stop', at, by: 'failure', message: contentText(line.content) }]
      case 'info':
        if (!contentText(line.content).startsWith('Request cancelled')) return []
        again = true
        return [{ type: 'stop', at, by: 'person', message: 'Request cancelled.' }]
      default:
        return []
    }
  }
}

export const geminiPast: PastSessions = {
  provider: 'google',
  folder: ({ home, env }) => join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp'),
  file: /^[^/]+\/chats\/session-[^/]+\.jsonl$/,
  reader: geminiReader,
}
