import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { randomName } from '../../base/id.ts'
import { join } from 'node:path'

/** A turn and the trees around it; one that was cut off ends where the next one began, else now. */
export type Kept = {
  turn: string
  before: string
  after?: string
  at: number
  prompt: string
  /** Nobody saw it end, so what else changed meanwhile is taken for its own. */
  cutOff?: true
  /** The turn that this one took back. */
  undoes?: string
}

/** The kept turns, one file each: processes side by side never write the same one. */
export class KeptTurns {
  #folder: string
  #work: string

  constructor(dir: string) {
    this.#folder = join(dir, 'turns')
    this.#work = join(dir, 'work')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  put(kept: Kept): void {
    const draft = join(this.#work, randomName())
    writeFileSync(draft, JSON.stringify(kept), { mode: 0o600 })
    renameSync(draft, this.#place(kept.turn))
  }

  drop(turn: string): void {
    rmSync(this.#place(turn), { force: true })
  }

  count(): number {
    return readdirSync(this.#folder).length
  }

  /** Oldest first; a file that is no record of ours is passed over. */
  list(): Kept[] {
    return readdirSync(this.#folder)
      .flatMap((name) => parsed(join(this.#folder, name)))
      .sort((a, b) => a.at - b.at || (a.turn < b.turn ? -1 : 1))
      .map((kept, index, all) => (kept.after === undefined ? cutOff(kept, all[index + 1]) : kept))
  }

  #place(turn: string): string {
    return join(this.#folder, `${encodeURIComponent(turn)}.json`)
  }
}

/** The turn that is meant when none is named: the newest that changed something, is no undo, and was not taken back. */
export function lastStanding(oldestFirst: readonly Kept[]): Kept | undefined {
  const undone = new Set<string>()
  for (const kept of oldestFirst.toReversed()) {
    if (undone.has(kept.turn)) continue
    if (kept.undoes !== undefined) undone.add(kept.undoes)
    else if (kept.before !== kept.after) return kept
  }
  return undefined
}

function cutOff(kept: Kept, next: Kept | undefined): Kept {
  return { ...kept, ...(next ? { after: next.before } : {}), cutOff: true }
}

function parsed(path: string): Kept[] {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<Kept>
    const whole = typeof value.turn === 'string' && typeof value.before === 'string' && typeof value.at === 'number'
    return whole ? [value as Kept] : []
  } catch {
    return []
  }
}
