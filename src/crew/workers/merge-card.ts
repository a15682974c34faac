import type { FileChange } from '../../core/talk/entry.ts'
import type { Question, Shown } from '../../core/talk/question.ts'
import type { Stray } from '../../hub/model/tasks/project-copy.ts'
import type { WorkerSlot } from '../slot.ts'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { consentOptions } from '../../core/talk/consent.ts'
import { workerId, workerRole } from '../worker.ts'

/** The folders with the two versions of a file: the project, and the worker's copy of it. */
type BothTrees = { root: string; copy: string }

/** The most files, and the largest file, that a card or an event shows. */
const most = { files: 20, bytes: 128 * 1024 }

export const strayWords = (strays: readonly Stray[]): string =>
  firstPaths(strays.map(({ path, why }) => `${path} (${why})`))

/** Asks what to do with a worker's changes if some of them are not allowed. */
export function strayCard(slot: WorkerSlot, strays: readonly Stray[], at: BothTrees): Question {
  return {
    ...aboutWorker(slot),
    text: `${workerId(slot.id)} (${slot.worker.name}, by ${slot.agent}) made changes that it was not allowed to make. Nothing is in the project yet. Not allowed: ${strayWords(strays)}`,
    shows: shownDiffs(
      strays.map(({ path }) => path),
      at,
    ),
    options: consentOptions({
      once: { id: 'allowed', label: 'Bring in only the changes that were allowed' },
      no: { id: 'none', label: 'Bring in nothing, and keep its copy for a day' },
      others: [{ id: 'all', label: 'Bring in all of its changes' }],
    }),
  }
}

/** Asks what to do with a worker's changes if the same lines of a file were also changed in the project. */
export function conflictCard(
  slot: WorkerSlot,
  { conflicts, others }: { conflicts: readonly string[]; others: readonly string[] },
  at: BothTrees,
): Question {
  const rest = others.length > 0
  const replace = {
    id: 'worker',
    label: `Bring in ${rest ? 'everything' : 'these files'}, and save the project's versions aside`,
  }
  return {
    ...aboutWorker(slot),
    text: `${workerId(slot.id)} (${slot.worker.name}, by ${slot.agent}) changed lines that were also changed in the project while it worked. Nothing is in the project yet. In conflict: ${firstPaths(conflicts)}`,
    shows: shownDiffs(conflicts, at),
    options: consentOptions({
      once: rest ? { id: 'others', label: 'Bring in all other files, and leave these in its copy' } : replace,
      no: { id: 'none', label: 'Bring in nothing, and keep its copy for a day' },
      others: rest ? [replace] : [],
    }),
  }
}

const aboutWorker = (slot: WorkerSlot) => ({ about: 'choice' as const, from: [workerRole(slot)], agent: 'termaite' })

const mostNamed = 12

/** Names the first of many paths. */
export function firstPaths(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

function shownDiffs(paths: readonly string[], { root, copy }: BothTrees): Shown[] {
  return paths.slice(0, most.files).flatMap((path): Shown[] => {
    const [before, after] = [textAt(root, path), textAt(copy, path)]
    return before === undefined && after === undefined ? [] : [{ type: 'diff', path, before, after: after ?? '' }]
  })
}

/** The texts of files in one tree, for a comparison with their later versions. */
export function textsOf(root: string, paths: readonly string[]): ReadonlyMap<string, string | undefined> {
  return new Map(paths.slice(0, most.files).map((path) => [path, textAt(root, path)]))
}

/** The changes of files that had these texts before, in the form for a screen. */
export function fileChanges(root: string, texts: ReadonlyMap<string, string | undefined>): FileChange[] {
  return [...texts].flatMap(([path, before]): FileChange[] => {
    const after = textAt(root, path)
    if (before === after) return []
    return after === undefined ? [{ path, before, after: '', gone: true }] : [{ path, before, after }]
  })
}

/** The text of a file; undefined if the file does not exist or cannot be shown. */
function textAt(root: string, path: string): string | undefined {
  try {
    const place = join(root, path)
    const found = lstatSync(place)
    if (!found.isFile() || found.size > most.bytes) return undefined
    const body = readFileSync(place)
    return body.includes(0) ? undefined : body.toString('utf8')
  } catch {
    return undefined
  }
}
