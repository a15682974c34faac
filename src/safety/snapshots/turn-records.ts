import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomName } from '../../base/id.ts'
import { writeWhole } from './snapshot-repository.ts'

/** A turn and the trees before and after it. A turn that was cut off ends at the beginning of the next one, or now. */
export type TurnRecord = {
  turn: string
  before: string
  after?: string
  at: number
  prompt: string
  /** When the tree `before` was ready, if that was after the beginning of the turn: only later changes can be undone. */
  from?: number
  /** Set if the turn was cut off: everything that changed until its assumed end counts as its change. */
  cutOff?: true
  /** The turn that this one undid. */
  undoes?: string
  /**
   * The checksums of the files with keys at the start of the turn, and a list of those that the turn changed: these files are never
   * copied.
   */
  secrets?: Record<string, string>
  uncopied?: string[]
}

/** The records of turns, one file each, so that parallel processes never write the same file. */
export class TurnRecords {
  #folder: string
  #work: string

  constructor(dir: string) {
    this.#folder = join(dir, 'turns')
    this.#work = join(dir, 'work')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  put(kept: TurnRecord): void {
    writeWhole(this.#place(kept.turn), JSON.stringify(kept), join(this.#work, randomName()))
  }

  /** The record of one turn, as it was last stored. */
  get(turn: string): TurnRecord | undefined {
    return parsed(this.#place(turn))[0]
  }

  drop(turn: string): void {
    rmSync(this.#place(turn), { force: true })
  }

  count(): number {
    return readdirSync(this.#folder).length
  }

  /** Lists the records, oldest first; skips files that are not records. */
  list(): TurnRecord[] {
    return readdirSync(this.#folder)
      .flatMap((name) => parsed(join(this.#folder, name)))
      .sort((a, b) => a.at - b.at || (a.turn < b.turn ? -1 : 1))
      .map((kept, index, all) => (kept.after === undefined ? cutOff(kept, all[index + 1]) : kept))
  }

  /** Whether an undo or a redo was recorded after the turn with this id began: ids sort by time, so that few records are read. */
  undoneSince(turn: string): boolean {
    const after = `${encodeURIComponent(turn)}.json`
    return readdirSync(this.#folder).some(
      (name) => name > after && parsed(join(this.#folder, name)).some(({ undoes }) => undoes !== undefined),
    )
  }

  #place(turn: string): string {
    return join(this.#folder, `${encodeURIComponent(turn)}.json`)
  }
}

/** The turn to undo if the person names none: the newest that changed something, is not an undo, and was not undone. */
export function lastUndoable(oldestFirst: readonly TurnRecord[]): TurnRecord | undefined {
  const undone = new Set<string>()
  for (const kept of oldestFirst.toReversed()) {
    if (undone.has(kept.turn)) continue
    if (kept.undoes !== undefined) undone.add(kept.undoes)
    else if (kept.before !== kept.after) return kept
  }
  return undefined
}

/**
 * The undo to redo if the person names none: the newest one that was not undone itself, without redos. A turn that changed files since
 * then ends the search.
 */
export function lastRedoable(oldestFirst: readonly TurnRecord[]): TurnRecord | undefined {
  const isUndone = ({ turn }: TurnRecord): boolean => oldestFirst.some((one) => one.undoes === turn && !isUndone(one))
  const isRedo = ({ undoes }: TurnRecord): boolean => {
    const undo = oldestFirst.find(({ turn, undoes: earlier }) => turn === undoes && earlier !== undefined)
    return undo !== undefined && !isRedo(undo)
  }
  for (const kept of oldestFirst.toReversed()) {
    if (isUndone(kept)) continue
    if (kept.undoes !== undefined && !isRedo(kept)) return kept
    if (kept.undoes === undefined && kept.before !== kept.after) return undefined
  }
  return undefined
}

const undoMark = 'undo: '
const redoMark = 'redo: '

/** The prompt under which the undo of a turn is listed: the undo of an undo is a redo, and the undo of a redo is an undo again. */
export function undoPrompt(turn: TurnRecord): string {
  const [mark, text] = [turn.prompt.slice(0, undoMark.length), turn.prompt.slice(undoMark.length)]
  if (turn.undoes === undefined || (mark !== undoMark && mark !== redoMark)) return undoMark + turn.prompt
  return (mark === undoMark ? redoMark : undoMark) + text
}

function cutOff(kept: TurnRecord, next: TurnRecord | undefined): TurnRecord {
  return next ? { ...kept, after: next.before, cutOff: true } : { ...kept, cutOff: true }
}

function parsed(path: string): TurnRecord[] {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<TurnRecord>
    const whole = typeof value.turn === 'string' && typeof value.before === 'string' && typeof value.at === 'number'
    return whole ? [value as TurnRecord] : []
  } catch {
    return []
  }
}
