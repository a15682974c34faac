import type { TurnChange, TurnRow } from '../../../core/turns/machine-turns.ts'

/** The changes that one follower has not read yet. A slow follower gets only the newest state of each turn. */
type Follower = { pending: Map<string, TurnChange>; wake(): void }

/**
 * The turns that are known now, and their followers. `gather` starts to look for turns when the first follower comes, and returns a
 * function that stops this when the last follower has left; then no turn is known.
 */
export class TurnFeed {
  #gather: () => () => void
  #followers = new Set<Follower>()
  #rows = new Map<string, TurnRow>()
  #stop: (() => void) | undefined

  constructor(gather: () => () => void) {
    this.#gather = gather
  }

  rows(): TurnRow[] {
    return [...this.#rows.values()]
  }

  async *follow(signal: AbortSignal): AsyncGenerator<TurnChange> {
    if (signal.aborted) return
    const follower: Follower = { pending: new Map(), wake() {} }
    for (const row of this.#rows.values()) follower.pending.set(row.turn, { type: 'turn', row })
    this.#followers.add(follower)
    const leave = () => follower.wake()
    signal.addEventListener('abort', leave, { once: true })
    this.#stop ??= this.#gather()
    try {
      while (!signal.aborted) {
        const woken = new Promise<void>((resolve) => (follower.wake = resolve))
        const changes = [...follower.pending.values()]
        follower.pending.clear()
        yield* changes
        if (follower.pending.size === 0 && !signal.aborted) await woken
      }
    } finally {
      signal.removeEventListener('abort', leave)
      this.#followers.delete(follower)
      if (this.#followers.size === 0) {
        this.#stop?.()
        this.#stop = undefined
        this.#rows.clear()
      }
    }
  }

  tell(change: TurnChange): void {
    const turn = change.type === 'turn' ? change.row.turn : change.turn
    if (change.type === 'turn') this.#rows.set(turn, change.row)
    else this.#rows.delete(turn)
    for (const follower of this.#followers) {
      follower.pending.set(turn, change)
      follower.wake()
    }
  }
}
