import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'
import type { Question } from '../core/talk/question.ts'
import { toolDeed, toolWords } from '../core/data/tool-words.ts'
import { resolve } from 'node:path'
import { fenceText } from '../base/text/markdown-fence.ts'
import { fileChangesOf } from '../chat/transcript/event-facts.ts'
import { commandText, dangerSign, dangerWords, readableText } from '../questions/question-text.ts'
import { inputSummary, patchPaths } from '../chat/transcript/call-input.ts'

/** The most characters of an output that are sent; the log has the whole output. */
const longest = 20_000

export const toolTitle = (tool: string, input: unknown) => {
  const words = inputSummary(input)
  const name = toolWords(tool)
  if (words === '') return name
  return toolDeed(tool) === undefined ? `${name}: ${words}` : `${name} ${words}`
}

/** The kind of a call, derived from its input, because every agent names its tools differently. */
export function toolKind(input: unknown): ToolKind {
  const has = (...keys: string[]) => keys.some((key) => typeof (input as Record<string, unknown>)?.[key] === 'string')
  if (patchesIn(input).length > 0) return 'edit'
  if (has('command', 'cmd', 'code')) return 'execute'
  if (has('pattern', 'query')) return 'search'
  if (has('url')) return 'fetch'
  const edits = ['content', 'edits', 'new_string', 'newText', 'patch', 'diff']
  if (edits.some((key) => (input as Record<string, unknown>)?.[key] !== undefined)) return 'edit'
  return pathIn(input) === undefined ? 'other' : 'read'
}

function pathIn(input: unknown): string | undefined {
  const { file_path, filePath, path } = (input ?? {}) as Record<string, unknown>
  return [file_path, filePath, path].find((one): one is string => typeof one === 'string' && one !== '')
}

/** The files of the patches in an input. */
function patchesIn(input: unknown): string[] {
  return Object.values((input ?? {}) as Record<string, unknown>).flatMap(patchPaths)
}

/** The files that an editor can open beside the call. */
export function locationsOf(input: unknown, cwd: string): ToolCallLocation[] {
  const path = pathIn(input)
  return (path === undefined ? patchesIn(input) : [path]).map((one) => ({ path: resolve(cwd, one) }))
}

export function textContent(text: string): ToolCallContent[] {
  const shown = text.length > longest ? `…${text.slice(-longest)}` : text
  return shown === '' ? [] : [{ type: 'content', content: { type: 'text', text: shown } }]
}

/** The files that a call changed, and its output. */
export function resultContent(text: string, data: unknown, cwd: string): ToolCallContent[] {
  const diffs = fileChangesOf(data).map(({ path, before, after }) => diff(path, before, after, cwd))
  return [...diffs, ...textContent(text)]
}

/**
 * The parts of a question: its dangers as text, then the whole command, text or change that the person would allow. Editors show text as
 * Markdown, which would join lines and drop characters, so a command and a text are fenced.
 */
export function shownContent({ text, shows = [] }: Pick<Question, 'text' | 'shows'>, cwd: string): ToolCallContent[] {
  const dangers = dangerWords({ text, shows }).map((words) => dangerSign + words)
  return [
    ...(dangers.length > 0 ? [fencedContent(dangers.join('\n'))] : []),
    ...shows.map((shown) => {
      if (shown.type === 'diff') return diff(shown.path, shown.before, shown.after, cwd)
      return fencedContent(shown.type === 'command' ? commandText(shown) : readableText(shown.text))
    }),
  ]
}

function fencedContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: fenceText(text) } }
}

function diff(path: string, before: string | undefined, after: string, cwd: string): ToolCallContent {
  return { type: 'diff', path: resolve(cwd, path), oldText: before ?? null, newText: after }
}
