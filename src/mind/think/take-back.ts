import type { Event } from '../../core/talk/entry.ts'
import type { Course } from './course.ts'
import { messageOf } from '../../base/error-message.ts'
import { note } from './course.ts'
import { count } from './words.ts'

const mostNamed = 8

/** What a failed approach left behind goes, if the person says so; nobody there leaves it as it is. What became of it, in words, if it left anything. */
export async function* takenBack(
  name: string,
  mark: string,
  course: Course,
): AsyncGenerator<Event, string | undefined> {
  const words = await became(name, mark, course).catch(
    (error) => `what ${name} changed could not be taken back: ${messageOf(error)}`,
  )
  if (words !== undefined) yield note(words)
  return words
}

async function became(name: string, mark: string, { turn, minds }: Course): Promise<string | undefined> {
  const { files, seen } = await minds.rewind!.since(mark)
  if (files.length === 0 || turn.signal.aborted) return undefined
  const shown = [
    ...files.slice(0, mostNamed),
    ...(files.length > mostNamed ? [`and ${files.length - mostNamed} more`] : []),
  ]
  const text = `${name} failed. Take back the ${count(files.length, 'file')} it changed?`
  const options = [
    { id: 'back', label: 'Yes, take them back' },
    { id: 'keep', label: 'No, leave them' },
  ]
  const shows = [{ type: 'text' as const, text: shown.join('\n') }]
  const picks = await turn.ask({ about: 'choice', agent: 'termaite', text, from: [], shows, options }, turn.signal)
  if (!picks?.includes('back')) return `what ${name} changed is left as it is: ${shown.join(', ')}`
  const left = await minds.rewind!.back(mark, seen)
  return `what ${name} changed was taken back${left.length > 0 ? `, except ${left.join('; ')}` : ''}`
}
