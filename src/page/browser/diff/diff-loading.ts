import type { TaskTry } from '../../../hub/model/tasks/task-try.ts'
import { useEffect, useState } from 'preact/hooks'
import { request } from '../hub/page-request.ts'
import { changesBetween } from './diff-between.ts'
import { DiffDocument } from './diff-document.ts'
import { openText } from '../hub/page-connection.ts'

/** A diff that is loading: `version` changes with each piece, `isRead` is true when it is complete. */
export type LoadedDiff = {
  diff: DiffDocument
  version: number
  isRead: boolean
  /** Remarks about files, by their paths. */
  notes?: ReadonlyMap<string, string>
  trouble?: string
}

/** How often the loaded part is drawn, and how long a comparison works before the page may draw. */
const drawMs = 150
const workMs = 12

/** The last diffs that were loaded, by task, try and content: a comparison needs two, and going back to one of them is fast. */
const kept = new Map<string, DiffDocument>()
const mostKept = 2

/** The diff of a try, or only the changes since an earlier try. */
export function useDiff(task: string, tried: TaskTry, since: TaskTry | undefined): LoadedDiff | undefined {
  const [loaded, setLoaded] = useState<LoadedDiff>()
  const name = `${task} ${tried.number} ${tried.diff?.id} ${since?.number ?? ''}`
  useEffect(() => {
    const over = new AbortController()
    const tell = (next: LoadedDiff) => over.signal.aborted || setLoaded(next)
    setLoaded(undefined)
    if (!tried.diff) return
    load(task, tried, since, over.signal, tell).catch((error: unknown) => {
      const trouble = error instanceof Error ? error.message : String(error)
      tell({ diff: new DiffDocument(), version: -1, isRead: true, trouble })
    })
    return () => over.abort()
  }, [name])
  return loaded
}

async function load(
  task: string,
  tried: TaskTry,
  since: TaskTry | undefined,
  signal: AbortSignal,
  tell: (loaded: LoadedDiff) => unknown,
): Promise<void> {
  if (!since) {
    const diff = await readDiff(task, tried, signal, (diff, version) => tell({ diff, version, isRead: false }))
    tell({ diff, version: diff.lineCount, isRead: true })
    return
  }
  const silent = () => {}
  const earlier = since.diff ? await readDiff(task, since, signal, silent) : new DiffDocument()
  const later = await readDiff(task, tried, signal, silent)
  const diff = new DiffDocument()
  const notes = new Map<string, string>()
  let began = performance.now()
  for (const { path, part, note } of changesBetween(earlier, later)) {
    diff.push(part)
    if (note !== undefined) notes.set(path, note)
    if (performance.now() - began < workMs) continue
    await new Promise((resolve) => setTimeout(resolve))
    signal.throwIfAborted()
    began = performance.now()
  }
  diff.end()
  tell({ diff, notes, version: diff.lineCount, isRead: true })
}

/** Parses the diff of a try while it arrives. */
async function readDiff(
  task: string,
  { number, diff: about }: TaskTry,
  signal: AbortSignal,
  tell: (diff: DiffDocument, version: number) => unknown,
): Promise<DiffDocument> {
  const name = `${task} ${about?.id}`
  const known = kept.get(name)
  if (known) return known
  const response = await openText(request('GET /api/tasks/:id/tries/:number/diff', { id: task, number }), signal)
  const diff = new DiffDocument(about?.bytes)
  const reader = response.body!.getReader()
  let drawn = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    diff.push(value)
    if (diff.cut !== undefined) void reader.cancel()
    if (performance.now() - drawn < drawMs) continue
    drawn = performance.now()
    tell(diff, diff.lineCount)
    // Lets the page draw and handle keystrokes before the next piece.
    await new Promise((resolve) => setTimeout(resolve))
  }
  diff.end()
  while (kept.size >= mostKept) kept.delete(kept.keys().next().value!)
  kept.set(name, diff)
  return diff
}
