import type { Event } from '../../core/talk/entry.ts'
import type { Course } from './course.ts'
import { wordsOf } from '../../base/words.ts'
import { note } from './course.ts'
import { count } from './words.ts'

const mostNamed = 8

/** What a failed approach left behind goes, if the person says so; nobody there leaves it as it is. */
export async function* takenBack(name: string, mark: string, course: Course): AsyncGenerator<Event, void> {
  const { turn } = course
  const rewind = course.minds.rewind!
  try {
    const { files } = await rewind.since(mark)
    if (files.length === 0 || turn.signal.aborted) return
    const shown = [
      ...files.slice(0, mostNamed),
      ...(files.length > mostNamed ? [`and ${files.length - mostNamed} more`] : []),
    ]
    const text = `${name} failed. Take back the ${count(files.length, 'file')} it changed?`
    const options = [
      { id: 'back', label: 'Yes, take them back' },
      { id: 'keep', label: 'No, leave them' },
    ]
    const picks = await turn.ask(
      { about: 'choice', text, from: [], shows: [{ type: 'text', text: shown.join('\n') }], options },
      turn.signal,
    )
    if (!picks?.includes('back')) return yield note(`what ${name} changed is left as it is: ${shown.join(', ')}`)
    const left = await rewind.back(mark)
    yield note(`what ${name} changed was taken back${left.length > 0 ? `, except ${left.join('; ')}` : ''}`)
  } catch (error) {
    yield note(`what ${name} changed could not be taken back: ${wordsOf(error)}`)
  }
}
