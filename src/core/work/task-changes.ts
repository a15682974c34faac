import type { TaskResult } from './task.ts'

/** One file that a task changed; a file without lines, such as a picture, has no counts. */
export type FileChange = { path: string; added?: number; removed?: number }

/** Where the work of a task is and which files it changed. */
export type TaskWork = { branch?: string; worktree?: string; files: FileChange[] }

/** The files that are told of one task; the rest is on its branch. */
export const mostFiles = 1_000

/** Reads `git diff --numstat -z`: counts and path of each file; a renamed file has its two paths in fields of their own. */
export function parseNumstat(text: string): FileChange[] {
  const fields = text.split('\0')
  const files: FileChange[] = []
  for (let at = 0; at < fields.length; at++) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at]!) ?? []
    if (path === undefined) continue
    // A rename writes an empty path here, and the old and the new path after it.
    const named = path === '' ? fields[(at += 2)]! : path
    files.push(added === '-' ? { path: named } : { path: named, added: Number(added), removed: Number(removed) })
  }
  return files
}

/** What a result says of its work. The agent wrote the result, so that every part of it is checked. */
export function workIn(result: TaskResult | undefined): TaskWork {
  const told = (result?.artifacts ?? []).filter(isObject)
  const branch = told.map(({ branch }) => branch).find((name) => typeof name === 'string')
  const worktree = told.map(({ worktree }) => worktree).find((path) => typeof path === 'string')
  const listed = told.map(({ files }) => files).find((files) => Array.isArray(files)) as unknown[] | undefined
  const files = listed ? listed.flatMap(fileIn) : filesInDiff(result?.diff ?? '')
  return { ...(branch === undefined ? {} : { branch }), ...(worktree === undefined ? {} : { worktree }), files }
}

/** "2 files +3 −1"; empty for no files. */
export function sizeWords(files: readonly FileChange[]): string {
  if (files.length === 0) return ''
  const sum = (of: (file: FileChange) => number | undefined) =>
    files.reduce((total, file) => total + (of(file) ?? 0), 0)
  const counts = `+${sum(({ added }) => added)} −${sum(({ removed }) => removed)}`
  return `${files.length} ${files.length === 1 ? 'file' : 'files'} ${counts}`
}

function fileIn(value: unknown): FileChange[] {
  if (!isObject(value) || typeof value.path !== 'string') return []
  const { path, added, removed } = value
  return [typeof added === 'number' && typeof removed === 'number' ? { path, added, removed } : { path }]
}

/** Counts the changed lines of each file in a diff that an agent sent without a list of its files. */
function filesInDiff(diff: string): FileChange[] {
  const files: FileChange[] = []
  let file: Required<FileChange> | undefined
  for (const line of diff.split('\n')) {
    const path = /^\+\+\+ (?:b\/)?(.*)$/.exec(line)?.[1] ?? /^diff --git .* b\/(.*)$/.exec(line)?.[1]
    if (path !== undefined) {
      if (file?.path !== path && path !== '/dev/null') files.push((file = { path, added: 0, removed: 0 }))
    } else if (line.startsWith('--- ')) continue
    else if (file && line.startsWith('+')) file.added++
    else if (file && line.startsWith('-')) file.removed++
  }
  return files
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
