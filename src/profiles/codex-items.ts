import type { FileChange } from '../core/talk/entry.ts'
import type { Loose } from './jsonl.ts'
import { shortPath } from '../base/short-path.ts'
import { contentText, denial, listOf, loose, textOf } from './jsonl.ts'
import { sides } from './patch.ts'

/** An item that is a tool at work: what it was to do, what came of it, and its words in a list of denials. */
export type Work = { tool: string; input: unknown; output: string; changes?: FileChange[]; denial: string }

/** An item with its files named as somebody in that folder would name them. */
export function named(item: Loose, cwd: string): Loose {
  if (!Array.isArray(item.changes)) return item
  const short = (path: unknown) => (typeof path === 'string' ? shortPath(path, cwd) : path)
  const changes = listOf(item.changes).map((change) => {
    const kind = loose(change.kind)
    return { ...change, path: short(change.path), kind: { ...kind, move_path: short(kind.move_path) } }
  })
  return { ...item, changes }
}

/** The items of an app-server's turn that are tools at work; the others are words or its own bookkeeping. */
export function workOf(item: Loose): Work | undefined {
  switch (item.type) {
    case 'commandExecution': {
      const input = { command: commandOf(item.command) }
      return { tool: 'shell', input, output: textOf(item.aggregatedOutput) ?? '', denial: denial('shell', input) }
    }
    case 'fileChange': {
      const changes = changesOf(item)
      const paths = changes.map(({ path }) => path).join(', ')
      return {
        tool: 'file_change',
        input: changes.length === 1 ? { path: paths, diff: listOf(item.changes)[0]!.diff } : { changes: item.changes },
        output: listOf(item.changes)
          .map(({ kind, path }) => `${textOf(loose(kind).type)} ${textOf(path)}`)
          .join('\n'),
        changes,
        denial: denial('file_change', { path: paths }),
      }
    }
    case 'mcpToolCall': {
      const tool = `${textOf(item.server)}.${textOf(item.tool)}`
      const output = textOf(loose(item.error).message) ?? contentText(loose(item.result).content ?? '')
      return { tool, input: item.arguments, output, denial: denial(tool, item.arguments) }
    }
    case 'webSearch': {
      const input = { query: item.query }
      return { tool: 'web_search', input, output: '', denial: denial('web_search', input) }
    }
    default:
      return undefined
  }
}

/** A new file comes whole, a deleted one too, any other as a diff. */
export function changesOf({ changes }: Loose): FileChange[] {
  return listOf(changes).map(({ path, kind, diff }) => {
    const text = textOf(diff) ?? ''
    const { type, move_path } = loose(kind)
    const at = textOf(move_path) ?? textOf(path) ?? ''
    if (type === 'add') return { path: at, after: text }
    return type === 'delete' ? { path: at, before: text, after: '' } : { path: at, ...sides(text) }
  })
}

/** The words that a shell of the system is given, where its quotes can be taken off without a doubt: the model may name another shell. */
export function commandOf(command: unknown): string {
  const text = textOf(command) ?? ''
  return /^(?:(?:\/usr)?\/bin\/)?(?:bash|zsh|sh) -l?c '([^']*)'$/s.exec(text)?.[1] ?? text
}
