import type { Shown } from '../../core/talk/question.ts'
import type { Tool } from '../../core/work/tool.ts'

/** What a person sees before a yes: the command, the code, the change, or what else the call was given. */
export function shownOf(tool: Tool, input: unknown, cwd: string): Shown[] {
  const { command, code, file_path: path, content, edits } = (input ?? {}) as Record<string, unknown>
  if (typeof command === 'string') return [{ type: 'command', command, cwd }]
  if (typeof code === 'string') return [{ type: 'command', command: code, cwd }]
  if (typeof path === 'string' && typeof content === 'string') return [{ type: 'diff', path, after: content }]
  if (typeof path === 'string' && Array.isArray(edits) && edits.every(isEdit))
    return edits.map(({ old_string: before, new_string: after }) => ({ type: 'diff', path, before, after }))
  return [{ type: 'text', text: `${tool.name} ${JSON.stringify(input, undefined, 2)}` }]
}

function isEdit(edit: unknown): edit is { old_string: string; new_string: string } {
  const { old_string: before, new_string: after } = (edit ?? {}) as Record<string, unknown>
  return typeof before === 'string' && typeof after === 'string'
}
