import type { Event } from '../core/talk/entry.ts'
import type { App } from './app.ts'

/** The trees of a project around one turn. What goes wrong with them is told, and never stops a turn. */
export type Bracket = {
  /** The tree before, when there is one. */
  tree?: string
  /** Told once the turn is kept. */
  begin(turn: string): Promise<Event[]>
  end(turn: string): Promise<Event[]>
}

const none: Bracket = { begin: async () => [], end: async () => [] }

export async function openBracket(app: App, prompt: string): Promise<Bracket> {
  if (app.ephemeral) return none
  const { snapshots } = app
  const before = await snapshots.take()
  if ('off' in before) return { ...none, begin: () => toldOnce(app, before.off) }
  const kept = { before: before.tree, at: app.io.clock.now(), prompt: prompt.slice(0, 200) }
  return {
    tree: before.tree,
    // Kept at the start as well, so that a turn that is killed can be undone.
    begin: (turn) => orNote(() => snapshots.keep(turn, kept)),
    end: (turn) =>
      orNote(async () => {
        const after = await snapshots.take()
        if ('tree' in after) await snapshots.keep(turn, { ...kept, after: after.tree })
      }),
  }
}

/** A project without snapshots is told of once, not at every turn. */
async function toldOnce(app: App, off: string): Promise<Event[]> {
  const { doc } = app.project
  if ((await doc.read()).snapshotsOff === off) return []
  await doc.update((now) => ({ ...now, snapshotsOff: off }))
  return [note(`diff and undo are off in this project: ${off}`)]
}

async function orNote(work: () => Promise<void>): Promise<Event[]> {
  try {
    await work()
    return []
  } catch (error) {
    return [note(`this turn cannot be undone: ${error instanceof Error ? error.message : String(error)}`)]
  }
}

const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })
