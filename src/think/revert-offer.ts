import type { Event } from '../core/talk/entry.ts'
import type { Turn } from '../core/work/agent.ts'
import type { Checkpoints } from './resources.ts'
import type { ThinkingTurn } from './thinking-turn.ts'
import { messageOf } from '../base/error-message.ts'
import { plural } from './prompt-text.ts'
import { note } from './thinking-turn.ts'
import { consentOptions } from '../core/talk/consent.ts'

const mostNamed = 8

/** Offers to revert the changes of a failed approach; without an answer they stay. Describes the result, if there were changes. */
export async function* offerRevert(
  name: string,
  mark: string,
  { turn, resources }: ThinkingTurn,
): AsyncGenerator<Event, string | undefined> {
  if (!resources.checkpoints) return undefined
  const words = await revertIfWanted(name, mark, turn, resources.checkpoints).catch(
    (error) => `the changes of ${name} could not be reverted: ${messageOf(error)}`,
  )
  if (words !== undefined) yield note(words)
  return words
}

async function revertIfWanted(
  name: string,
  mark: string,
  turn: Turn,
  checkpoints: Checkpoints,
): Promise<string | undefined> {
  const { files, seen } = await checkpoints.since(mark)
  if (files.length === 0 || turn.signal.aborted) return undefined
  const more = files.length > mostNamed ? [`and ${files.length - mostNamed} more`] : []
  const shown = [...files.slice(0, mostNamed), ...more]
  const picks = await turn.ask(
    {
      about: 'choice',
      agent: 'termaite',
      text: `${name} failed. Revert the ${plural(files.length, 'file')} it changed?`,
      from: [],
      shows: [{ type: 'text', text: shown.join('\n') }],
      options: consentOptions({
        once: { id: 'back', label: 'Yes, revert the changes' },
        no: { id: 'keep', label: 'No, keep the changes' },
      }),
    },
    turn.signal,
  )
  if (!picks?.includes('back')) return `the changes of ${name} were kept: ${shown.join(', ')}`
  const left = await checkpoints.restore(mark, seen)
  return `the changes of ${name} were reverted${left.length > 0 ? `, except ${left.join('; ')}` : ''}`
}
