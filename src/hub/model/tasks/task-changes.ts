import type { TaskResult, TaskTry, TryDiff } from './task-try.ts'
import { defined } from '../../../base/defined.ts'
import { isPlainObject } from '../../../base/plain-object.ts'
import { DiffReader, linesOf } from '../../../core/data/diff-lines.ts'

/** One file that a task changed; a file without lines, such as a picture, has no line counts. */
export type FileChange = { path: string; added?: number; removed?: number }

/** The place of a task's work, and the files that the task changed. */
export type TaskWork = { branch?: string; worktree?: string; files: FileChange[] }

/** Parses `git diff --numstat -z`: the counts and the path of each file; the two paths of a renamed file are in separate fields. */
export function parseNumstat(text: string): FileChange[] {
  const fields = text.split('\0')
  const files: FileChange[] = []
  for (let at = 0; at < fields.length; at++) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at]!) ?? []
    if (path === undefined) continue
    // For a rename, this path is empty and the old and the new path follow.
    const named = path === '' ? fields[(at += 2)]! : path
    files.push(added === '-' ? { path: named } : { path: named, added: Number(added), removed: Number(removed) })
  }
  return files
}

/** The place of the work of the last try that has any, and the size of its diff. */
export function lastWork({ tries = [], result }: LastWorkOf): TaskWork & { diff?: TryDiff } {
  const last = tries.findLast(({ branch, diff, late }) => !late && (branch !== undefined || diff !== undefined))
  const told = workIn(last?.result ?? result)
  const { branch = told.branch, worktree = told.worktree, diff } = last ?? {}
  return defined({ branch, worktree, diff, files: told.files })
}

type LastWorkOf = { tries?: readonly TaskTry[]; result?: TaskResult | undefined }

/** Reads the work of a task from its result. The agent wrote the result, so every part of it is checked. */
export function workIn(result: TaskResult | undefined): TaskWork {
  const told = (result?.artifacts ?? []).filter(isPlainObject)
  const branch = told.map(({ branch }) => branch).find((name) => typeof name === 'string')
  const worktree = told.map(({ worktree }) => worktree).find((path) => typeof path === 'string')
  const listed = told.map(({ files }) => files).find((files) => Array.isArray(files)) as unknown[] | undefined
  const files = (listed ?? []).flatMap(fileIn)
  return { ...(branch === undefined ? {} : { branch }), ...(worktree === undefined ? {} : { worktree }), files }
}

/** Formats the size of a diff: "2 files +3 −1". */
export function diffWords({ files, added, removed }: Pick<TryDiff, 'files' | 'added' | 'removed'>): string {
  return `${files} ${files === 1 ? 'file' : 'files'} +${added} −${removed}`
}

/** Formats the size of a change, such as "2 files +3 −1"; empty for no files. */
export function sizeWords(files: readonly FileChange[]): string {
  if (files.length === 0) return ''
  const sum = (of: (file: FileChange) => number | undefined) =>
    files.reduce((total, file) => total + (of(file) ?? 0), 0)
  return diffWords({ files: files.length, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) })
}

function fileIn(value: unknown): FileChange[] {
  if (!isPlainObject(value) || typeof value.path !== 'string') return []
  const { path, added, removed } = value
  return [typeof added === 'number' && typeof removed === 'number' ? { path, added, removed } : { path }]
}

/** Parses the beginning of a diff into its files with their changed lines. */
export async function readDiff(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ files: FileChange[]; lines: string[]; left: number }> {
  const reader = new DiffReader()
  const files: Required<FileChange>[] = []
  const shown: string[] = []
  let left = 0
  for await (const lines of linesOf(chunks))
    for (const line of lines) {
      const { kind, path } = reader.read(line)
      if (kind === 'file') files.push({ path, added: 0, removed: 0 })
      // The line with the name of a renamed file comes after the file's first line.
      else if (kind === 'header' && files.length > 0 && path !== '') files.at(-1)!.path = path
      else if (kind === 'added' || kind === 'removed') files.at(-1)![kind]++
      if (shown.length < most) shown.push(line)
      else left++
    }
  return { files, lines: shown, left }
}
