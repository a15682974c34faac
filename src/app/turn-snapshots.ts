import type { AroundTurn } from '../core/work/conversation.ts'
import type { App } from './app.ts'
import type { Snapshots } from '../safety/snapshots.ts'
import type { Agent } from '../core/work/agent.ts'
import { wordsOf } from '../base/words.ts'
import { say } from '../core/io.ts'
import { runningIn } from './running-turns.ts'

/** The trees of a project around one turn. What goes wrong with them is told, and never stops a turn. */
export type Bracket = AroundTurn & {
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

/** Says which files changed since it was asked last; the first time, since the tree the turn began with. */
export function changesFrom(snapshots: Snapshots, begun: () => string | undefined): () => Promise<string[]> {
  let last: string | undefined
  return async () => {
    const since = last ?? begun()
    if (since === undefined) throw new Error('there is no tree to compare with')
    const now = await snapshots.take()
    if ('off' in now) throw new Error(now.off)
    last = now.tree
    return snapshots.changed(since, now.tree)
  }
}

const lookMs = 500

/** A bracket that opens when every turn of the project that was asked before this one is over. */
export function bracketInLine(app: App, prompt: string, signal: AbortSignal): Bracket {
  let bracket: Bracket | undefined
  return {
    get tree() {
      return bracket?.tree
    },
    async begin(turn) {
      await olderOver(app, turn, signal)
      if (signal.aborted) return []
      bracket = await openBracket(app, prompt)
      return bracket.begin(turn)
    },
    end: async (turn) => bracket?.end(turn) ?? [],
  }
}

/** What was said while a turn stood in line belongs to its history. */
export function readingLate(agent: Agent, { conversation }: App): Agent {
  const late: Agent['turn'] = async function* (turn) {
    const history = await conversation.view().catch(() => turn.history)
    yield* agent.turn({ ...turn, history })
  }
  // Not copied: its traits are found out only when somebody asks.
  return Object.create(agent, { turn: { value: late } }) as Agent
}

/** The order of the log decides, so of any number that wait only one goes on; what cannot be seen from here is not waited for. */
async function olderOver({ project, io }: App, turn: string, signal: AbortSignal): Promise<void> {
  for (let told = false; !signal.aborted; told = true) {
    const turns = await runningIn(project, io.clock.now())
    const place = turns.findIndex((one) => one.turn === turn)
    const seen = turns.slice(0, Math.max(0, place)).filter(({ pid }) => pid !== undefined)
    if (seen.length === 0) return
    if (!told) say(io, `Waiting for ${seen.length === 1 ? 'it' : `the ${seen.length} turns before this one`}.`)
    await io.clock.sleep(lookMs, signal)
  }
}
