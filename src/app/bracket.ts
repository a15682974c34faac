import type { Around } from '../core/work/conversation.ts'
import type { App } from './app.ts'
import { wordsOf } from '../base/words.ts'

/** The trees of a project around one turn. What goes wrong with them is told, and never stops a turn. */
export type Bracket = Around & {
  /** The tree before, when there is one. */
  tree?: string
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
    begin: (turn) => orWords('this turn cannot be undone', snapshots.keep(turn, kept)),
    end: (turn) =>
      orWords(
        'this turn cannot be undone',
        snapshots.take().then((after) => {
          if ('tree' in after) return snapshots.keep(turn, { ...kept, after: after.tree })
        }),
      ),
  }
}

/** A project without snapshots is told of once, not at every turn; where that cannot be remembered, again. */
async function toldOnce(app: App, off: string): Promise<string[]> {
  const { doc } = app.project
  try {
    if ((await doc.read()).snapshotsOff === off) return []
    await doc.update((now) => ({ ...now, snapshotsOff: off }))
  } catch {}
  return [`diff and undo are off in this project: ${off}`]
}

/** Nothing, or why a piece of work beside the turn was not done. */
export async function orWords(what: string, work: Promise<unknown> | undefined): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    return [`${what}: ${wordsOf(error)}`]
  }
}
