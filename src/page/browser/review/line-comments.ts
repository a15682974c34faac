import type { LinePlace, TaskNote } from '../../../hub/model/tasks/task-note.ts'
import type { TaskTry } from '../../../hub/model/tasks/task-try.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import type { DiffDocument } from '../diff/diff-document.ts'
import type { DiffFile } from '../diff/diff-file.ts'
import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { request } from '../hub/page-request.ts'
import { lineKinds } from '../diff/diff-line-bytes.ts'
import { pathOf } from '../diff/diff-file.ts'
import { call } from '../hub/page-connection.ts'

/** A line of a try's diff, in the form that the hub expects. */
export type CommentPlace = Omit<LinePlace, 'text'>

export type LineComment = TaskNote & { place: LinePlace }

/** The tries on the two sides of a shown diff: the later one, and the earlier one if only the changes since then are shown. */
type ShownTries = { tried: TaskTry; since?: TaskTry | undefined }

const hasPlace = (note: TaskNote): note is LineComment => note.place !== undefined

/** The newest version of every comment on a line of a task's diffs. */
export function useLineComments(task: Task): LineComment[] {
  const [read, setRead] = useState<readonly TaskNote[]>([])
  useEffect(() => {
    let over = false
    call(request('GET /api/tasks/:id/comments', { id: task.id })).then(
      (notes) => over || setRead(notes),
      // Without an answer, the newest comments are still part of the task itself.
      () => {},
    )
    return () => {
      over = true
    }
  }, [task.id])
  return useMemo(() => {
    const all = new Map(read.map((note) => [note.number, note]))
    for (const note of task.notes) all.set(note.number, note)
    return [...all.values()].filter(hasPlace).toSorted((a, b) => a.number - b.number)
  }, [read, task.notes])
}

/** The place of a line in the form for the hub: a removed line belongs to the file before the change, or to the earlier try's result. */
export function placeOf(diff: DiffDocument, line: number, { tried, since }: ShownTries): CommentPlace | undefined {
  const file = fileOf(diff, line)
  if (!file) return undefined
  const isRemoved = diff.kind(line) === lineKinds.removed
  if (!isRemoved) return { try: tried.number, path: pathOf(file), line: diff.newNumber(line), side: 'new' }
  const path = file.oldPath ?? pathOf(file)
  const number = diff.oldNumber(line)
  return since
    ? { try: since.number, path, line: number, side: 'new' }
    : { try: tried.number, path, line: number, side: 'old' }
}

/** The line of a shown diff that a place refers to; -1 if it is not shown. */
export function lineOf(diff: DiffDocument, place: CommentPlace, { tried, since }: ShownTries): number {
  const isLater = place.try === tried.number && (place.side === 'new' || !since)
  const isEarlier = since !== undefined && place.try === since.number && place.side === 'new'
  if (!isLater && !isEarlier) return -1
  const wantsOld = isEarlier || place.side === 'old'
  for (const file of diff.files) {
    if ((wantsOld ? (file.oldPath ?? file.newPath) : file.newPath) !== place.path && pathOf(file) !== place.path)
      continue
    for (const { line, oldStart, oldCount, newStart, newCount } of file.hunks) {
      const [start, count] = wantsOld ? [oldStart, oldCount] : [newStart, newCount]
      if (!file.isCombined && (place.line < start || place.line >= start + count)) continue
      for (let at = line + 1; at < file.end && diff.kind(at) !== lineKinds.hunk; at++) {
        const number = wantsOld ? diff.oldNumber(at) : diff.newNumber(at)
        // A line on both sides belongs to the later one.
        if (number === place.line && (!wantsOld || diff.kind(at) === lineKinds.removed)) return at
      }
    }
  }
  return -1
}

function fileOf(diff: DiffDocument, line: number): DiffFile | undefined {
  return diff.files.findLast(({ first }) => first <= line)
}

export const placeKey = ({ try: number, path, line, side }: CommentPlace) => JSON.stringify([number, path, line, side])

/** Comments that were written but not sent, by task and place. They survive a reload, but not the closing of the tab. */
export const drafts = signal<ReadonlyMap<string, string>>(storedDrafts())

const draftsName = 'termaite-drafts'

function storedDrafts(): Map<string, string> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem('termaite-drafts') ?? '[]') as [string, string][])
  } catch {
    return new Map()
  }
}

export const draftKey = (task: string, place: CommentPlace) => `${task} ${placeKey(place)}`

/** Saves the text of a comment; undefined closes its form. */
export function setDraft(key: string, text: string | undefined): void {
  const next = new Map(drafts.value)
  if (text === undefined) next.delete(key)
  else next.set(key, text)
  drafts.value = next
  sessionStorage.setItem(draftsName, JSON.stringify([...next]))
}

/** The drafts of a task with their places. */
export function draftsOf(task: string): { key: string; place: CommentPlace; text: string }[] {
  return [...drafts.value].flatMap(([key, text]) => {
    if (!key.startsWith(`${task} `)) return []
    const [number, path, line, side] = JSON.parse(key.slice(task.length + 1)) as [number, string, number, 'old' | 'new']
    return [{ key, place: { try: number, path, line, side }, text }]
  })
}
