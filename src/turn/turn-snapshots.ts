import type { Agent, Turn } from '../core/work/agent.ts'
import type { AroundTurn } from '../core/work/conversation.ts'
import type { Snapshots } from '../safety/snapshots/snapshots.ts'
import type { AppRecords } from './app.ts'
import { within } from '../base/time/clock.ts'
import { defined } from '../base/defined.ts'
import { clockTime } from '../base/time/local-time.ts'
import { messageOf } from '../base/error-message.ts'
import { say } from '../core/io.ts'
import { unfinishedIn } from './unfinished-turns.ts'

/** The snapshots of a project before and after one turn. If they fail, a note reports the error, and the turn continues. */
export type TurnSnapshots = AroundTurn & {
  /** The snapshot from before the turn, if one was taken. */
  readonly tree?: string
}

const noSnapshots: TurnSnapshots = { begin: async () => [], end: async () => [] }

/** How long a turn waits for a snapshot: of a small project, of the changes in a large one, of a whole large one. */
const patienceMs = { small: 15_000, changed: 3_000, whole: 1_500 }

/**
 * Begins the snapshot from before a turn. The turn waits only briefly: in a very large project the turn starts anyway, and only changes
 * made after the snapshot is ready can be undone.
 */
export function openTurnSnapshots(app: AppRecords, prompt: string): TurnSnapshots {
  if (app.ephemeral) return noSnapshots
  const { snapshots, io } = app
  const { clock } = io
  const record = { at: clock.now(), prompt: prompt.slice(0, 200) }
  const patience = async () =>
    (await snapshots.large()) ? patienceMs[snapshots.copied ? 'changed' : 'whole'] : patienceMs.small
  const waited = patience()
  const taking = snapshots.take()
  let before: { tree: string; from?: number } | undefined
  let late: Promise<unknown> | undefined
  const put = (turn: string, after?: string) =>
    snapshots.keep(turn, defined({ ...record, before: before!.tree, from: before!.from, after }))
  return {
    get tree() {
      return before?.tree
    },
    async begin(turn, waits) {
      waits?.('copying the project’s files for undo')
      const taken = await within(clock, taking, await waited)
      if (!taken) {
        late = taking.then(async (taken) => {
          if ('off' in taken) return
          before = { tree: taken.tree, from: clock.now() }
          await put(turn)
        })
        // An error is reported at the end of the turn.
        late.catch(() => {})
        return ['termaite is still copying the project’s files; until that is done, changes cannot be undone.']
      }
      if ('off' in taken) return taken.passing ? [cannotUndo(taken.off)] : toldOnce(app, taken.off)
      before = { tree: taken.tree }
      // The turn is recorded at its start as well, so that it can be undone even if it is killed.
      return orNote(cannotUndo(), put(turn))
    },
    async end(turn, waits, acted = true) {
      if (late && !before)
        return [`${cannotUndo('the project’s files were not copied in time')} The copying goes on with the next turn.`]
      if (!before) return []
      const from = before.from === undefined ? [] : [`Undo works for what changed after ${clockTime(before.from)}.`]
      // Nothing ran that could change a file, so the first snapshot also serves as the last one.
      if (!acted && !late) return orNote(cannotUndo(), put(turn, before.tree))
      waits?.('copying the changed files for undo')
      const work = async () => {
        await late
        // If the snapshot at the end of a turn is missing, undo uses the one from the start of the next turn.
        const after = await within(clock, snapshots.take(), await patience())
        if (after && 'tree' in after) await put(turn, after.tree)
      }
      return [...from, ...(await orNote(cannotUndo(), work()))]
    },
  }
}

const cannotUndo = (why?: string) => `This turn cannot be undone${why === undefined ? '' : `: ${why}.`}`

/** Says once for each project that it has no snapshots; if that cannot be remembered, at every turn. */
async function toldOnce(app: AppRecords, off: string): Promise<string[]> {
  const { doc } = app.project
  try {
    if ((await doc.read()).snapshotsOff === off) return []
    await doc.update((now) => ({ ...now, snapshotsOff: off }))
  } catch {}
  return [`diff and undo are off in this project: ${off}`]
}

/** Waits for work that runs beside the turn; returns a note if the work failed. */
export async function orNote(failure: string, work: Promise<unknown> | undefined): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    return [`${failure}: ${messageOf(error)}`]
  }
}

/** Snapshots of an exclusive turn: the first is taken when every turn before it is over. */
export function exclusiveSnapshots(app: AppRecords, prompt: string, signal: AbortSignal): TurnSnapshots {
  let snapshots: TurnSnapshots | undefined
  return {
    get tree() {
      return snapshots?.tree
    },
    async begin(turn, waits) {
      await olderTurnsOver(app, turn, signal, waits)
      if (signal.aborted) return []
      snapshots = openTurnSnapshots(app, prompt)
      return snapshots.begin(turn, waits)
    },
    end: async (turn, waits, acted) => snapshots?.end(turn, waits, acted) ?? [],
  }
}

const pollMs = 500

/**
 * Waits until every turn that is earlier in the log is over. The order of the log decides, so that of several waiting turns only one
 * starts. The end of another machine's turn cannot be seen, so such a turn is not waited for.
 */
async function olderTurnsOver(
  { project, io }: AppRecords,
  turn: string,
  signal: AbortSignal,
  waits: Turn['waits'],
): Promise<void> {
  for (let told = false; !signal.aborted; told = true) {
    const turns = await unfinishedIn(project, io.clock.now())
    const place = turns.findIndex((one) => one.turn === turn)
    const older = turns.slice(0, Math.max(0, place)).filter(({ pid }) => pid !== undefined)
    if (older.length === 0) return
    waits?.(`waiting for ${older.length === 1 ? 'the turn' : `the ${older.length} turns`} before this one`)
    if (!told) say(io, `Waiting for ${older.length === 1 ? 'the turn' : `the ${older.length} turns`} before this one.`)
    await io.clock.sleep(pollMs, signal)
  }
}

/** Gives the agent of an exclusive turn the history from the end of the wait. */
export function withLateHistory(agent: Agent, { conversation }: AppRecords): Agent {
  const late: Agent['turn'] = async function* (turn) {
    const history = await conversation.view().catch(() => turn.history)
    yield* agent.turn({ ...turn, history })
  }
  // An object with the agent as its prototype is used instead of a copy, because a rotation computes its traits on access.
  return Object.create(agent, { turn: { value: late } }) as Agent
}

/** Lists the files that changed since the last call; at the first call, since the snapshot from before the turn. */
export function changedFiles(snapshots: Snapshots, before: () => string | undefined): () => Promise<string[]> {
  let last: string | undefined
  return async () => {
    const since = last ?? before()
    if (since === undefined) throw new Error('there is no snapshot to compare with')
    const now = await snapshots.take()
    if ('off' in now) throw new Error(now.off)
    last = now.tree
    return snapshots.changed(since, now.tree)
  }
}
