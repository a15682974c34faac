import type { BigIntStats } from 'node:fs'

/** What a seat has seen of files: an edit is only safe on what was read, and did not change since. */
export class Seen {
  #stamps = new Map<string, string>()

  saw(real: string, stats: BigIntStats): void {
    this.#stamps.set(real, stamp(stats))
  }

  /** Whether the file is as it was seen. */
  still(real: string, stats: BigIntStats): 'same' | 'changed' | 'unseen' {
    const known = this.#stamps.get(real)
    return known === undefined ? 'unseen' : known === stamp(stats) ? 'same' : 'changed'
  }
}

const stamp = ({ dev, ino, size, mtimeNs }: BigIntStats) => `${dev}:${ino}:${size}:${mtimeNs}`
