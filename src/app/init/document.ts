import { stripAnsi } from '../../base/ansi.ts'

const title = /^# AGENTS\.md\b/

/**
 * The document in an agent's answer, without the fence or the chatter around it; undefined when there is none.
 * It begins with its title and has at least one section, so that a sentence about the file is not taken for it.
 */
export function documentIn(answer: string): string | undefined {
  const lines = stripAnsi(answer.replaceAll('\r\n', '\n')).split('\n')
  const start = lines.findIndex((line) => title.test(line))
  if (start < 0) return undefined
  const [, fence] = /^\s*(`{3,}|~{3,})\s*(?:markdown|md)?\s*$/.exec(lines[start - 1] ?? '') ?? []
  const end = fence === undefined ? lines.length : endOf(lines, start, fence)
  const body = lines.slice(start, end)
  if (!body.some((line) => /^#{2,3} \S/.test(line))) return undefined
  return `${body.join('\n').trimEnd()}\n`
}

/** Where the fence around the document closes: the last mark of its own, since those inside come in pairs. */
function endOf(lines: readonly string[], start: number, fence: string): number {
  const end = lines.findLastIndex((line, index) => index > start && line.trim() === fence)
  return end < 0 ? lines.length : end
}
