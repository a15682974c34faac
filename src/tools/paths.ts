import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMissing } from '../base/files.ts'
import { todoFile } from './todo/list.ts'

/** A place that a call would read or write: as it was named, and where it really is, which is undefined when that cannot be told. */
export type Touched = { access: 'read' | 'write'; named: string; real: string | undefined }

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

/** Which files a call of ours would touch, links followed, so that a policy can judge it before it runs; a shell's command is judged elsewhere. */
export async function pathsOf(tool: string, input: unknown, cwd: string): Promise<Touched[]> {
  const { access, path } = touching[tool] ?? {}
  const named = path?.((input ?? {}) as Record<string, unknown>)
  if (!access || typeof named !== 'string') return []
  const at = resolve(cwd, named)
  return [{ access, named: at, real: await realOf(at) }]
}

/** The last folder of a pattern that is named without a wildcard. */
export function stem(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?{]/.test(part))
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild).join('/') || '/'
}

/** Links are followed up to the last part that exists; one that points nowhere leads nowhere that could be told. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error) || path === dirname(path)) return undefined
    const there = await lstat(path).then(
      () => true,
      () => false,
    )
    if (there) return undefined
    const parent = await realOf(dirname(path))
    return parent === undefined ? undefined : join(parent, basename(path))
  }
}
