import { resolve } from 'node:path'
import { todoFile } from './todo/list.ts'

/** A place that a call would read or write, as it was named, absolute; where links lead from there is the policy's to see. */
export type Touched = { access: 'read' | 'write'; named: string }

type Names = (input: Record<string, unknown>) => unknown

const touching: Record<string, { access: Touched['access']; path: Names }> = {
  file_reader: { access: 'read', path: ({ file_path }) => file_path },
  file_creator: { access: 'write', path: ({ file_path }) => file_path },
  file_editor: { access: 'write', path: ({ file_path }) => file_path },
  ls: { access: 'read', path: ({ path }) => path || '.' },
  grep_search: { access: 'read', path: ({ path }) => path || '.' },
  // An absolute pattern leads away from the folder it is given.
  glob: {
    access: 'read',
    path: ({ path, pattern }) => (`${pattern}`.startsWith('/') ? stem(`${pattern}`) : path || '.'),
  },
  todo_write: { access: 'write', path: () => todoFile },
  todo_read: { access: 'read', path: () => todoFile },
  todo_update: { access: 'write', path: () => todoFile },
}

/** Which places a call of ours would touch, so that a policy can judge it before it runs; a shell's command is judged by itself. */
export async function pathsOf(tool: string, input: unknown, cwd: string): Promise<Touched[]> {
  const { access, path } = touching[tool] ?? {}
  const named = path?.((input ?? {}) as Record<string, unknown>)
  if (!access || typeof named !== 'string') return []
  return [{ access, named: resolve(cwd, named) }]
}

/** The last folder of a pattern that is named without a wildcard. */
export function stem(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?{]/.test(part))
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild).join('/') || '/'
}
