import type { Event } from '../../../core/talk/entry.ts'
import type { Turn } from '../../../core/work/agent.ts'
import type { Course } from '../course.ts'
import type { KeptTree, Trees } from './kept.ts'
import { note } from '../course.ts'
import { count } from '../words.ts'
import { drop, hold, treesLeft } from './kept.ts'
import { drawn, progressOf, titleOf } from './shown.ts'
import { revived } from './tree.ts'

/** A tree to go on with; or what to plan, since there is none; or neither, since the person did not say. */
export type Begun = { tree: KeptTree } | { plan: string } | { leave: string }

/**
 * What an earlier turn left undone is gone on with where this one is about it: it says the same again, or to go on,
 * or answers what was asked. `wanted`: the person named it, and is not asked once more.
 */
export async function* begun(wanted: boolean, trees: Trees, course: Course): AsyncGenerator<Event, Begun> {
  const { turn } = course
  const tree = await leftFor(turn, trees, wanted)
  if (!tree) return wanted ? { leave: 'no tree of tasks was left' } : { plan: turn.prompt }
  const { done, of } = progressOf(tree.tasks)
  const words = `A tree of ${count(of, 'task')} was left at ${done} of ${of}`
  if (turn.attended && !wanted) {
    const picks = await turn.ask(
      {
        about: 'choice',
        agent: 'termaite',
        text: `${words} (${titleOf({ task: tree.prompt })}). Go on with it?`,
        from: [],
        shows: [{ type: 'text', text: drawn(tree.tasks) }],
        options: [
          { id: 'go', label: 'Go on' },
          { id: 'anew', label: 'No, plan it anew' },
        ],
      },
      turn.signal,
    )
    if (picks?.includes('anew')) {
      await drop(trees, tree)
      return { plan: goesOn(turn.prompt) ? tree.prompt : turn.prompt }
    }
    if (!picks?.includes('go')) return { leave: `${words} and stays so` }
  }
  const held = await hold(trees, tree, turn.id)
  if (!held) return { leave: 'somebody else is at work on the tree of tasks that was left' }
  yield note(`going on with ${count(of, 'task')}, ${done} of them done`)
  const { asked: _, ...rest } = held
  return { tree: { ...rest, tasks: revived(held.tasks) } }
}

/** The tree that a turn is about: it says the same again, or to go on, or answers what was asked. */
export async function leftFor(turn: Turn, trees: Trees, wanted = false): Promise<KeptTree | undefined> {
  const left = await treesLeft(trees)
  const isAnswer = left[0]?.asked !== undefined && left[0].asked === turn.history.at(-1)?.turn
  const same = left.find(({ prompt }) => plain(prompt) === plain(turn.prompt))
  return same ?? (wanted || isAnswer || goesOn(turn.prompt) ? left[0] : undefined)
}

/** The request of a tree, and what the person said when they came back to it. */
export function requestOf({ prompt }: KeptTree, said: string): string {
  return plain(said) === plain(prompt) || goesOn(said) ? prompt : `${prompt}\n\nLater they said: ${said}`
}

const goOn = /^(?:please )?(?:go on|go ahead|continue|carry on|keep going|proceed|resume)(?: please)?$/

export const goesOn = (prompt: string) => goOn.test(plain(prompt))

const plain = (prompt: string) =>
  prompt
    .toLowerCase()
    .replaceAll(/[\s.!,]+/g, ' ')
    .trim()
