import type { Leash } from '../core/work/agent.ts'
import type { TurnScratch, WallHost } from '../safety/wall/wall.ts'

/**
 * The temporary folder and the network that the commands of one agent share, opened with the first command of a turn. Agents that may
 * only read do not share them with agents that may act, because they could then use a server that writes for them.
 */
export class ScratchRooms {
  #open: () => Promise<TurnScratch>
  #rooms = new Map<'looking' | 'acting', Promise<TurnScratch | undefined>>()
  #turns = 0

  constructor(open: () => Promise<TurnScratch>) {
    this.#open = open
  }

  /**
   * The temporary folder and network for a leash. Undefined if none can be made, for example on a full disk: each command then has its
   * own.
   */
  of(leash: Leash): Promise<TurnScratch | undefined> {
    const kind = leash === 'read' ? 'looking' : 'acting'
    const room = this.#rooms.get(kind) ?? this.#open().catch(() => undefined)
    this.#rooms.set(kind, room)
    return room
  }

  begin(): void {
    this.#turns++
  }

  /** Closes them after the last turn, unless `busy`: a background command keeps using them, even in the next turn. */
  async end(busy: boolean): Promise<void> {
    this.#turns--
    if (this.#turns <= 0 && !busy) await this.close()
  }

  async close(): Promise<void> {
    const rooms = [...this.#rooms.values()]
    this.#rooms.clear()
    await Promise.all(rooms.map(async (room) => (await room)?.close()))
  }
}

type ScratchParts = {
  /** Termaite's own home. */
  home: string
  root: string
  env: WallHost['env']
  state: { tools: { scratches: Map<string, ScratchRooms> } }
}

/** The temporary folders and networks of one agent, by its name. */
export function scratchRooms(name: string, { state, home, env, root }: ScratchParts): ScratchRooms {
  const known = state.tools.scratches.get(name)
  if (known) return known
  const made = new ScratchRooms(async () => {
    const { openTurnScratch } = await import('../safety/wall/turn-scratch.ts')
    return openTurnScratch(home, { platform: process.platform, env }, [root])
  })
  state.tools.scratches.set(name, made)
  return made
}
