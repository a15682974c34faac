import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Asked } from '../minds.ts'
import type { Language, Script } from './code.ts'
import type { Trial } from './trial.ts'
import { oneOf, optional, string } from '../../../core/work/shape.ts'
import { answerShape } from '../answer.ts'
import { languagesOf } from './code.ts'
import { codingWords } from './prompts.ts'

/** Asks for a script, or for a better one than those that failed; `none` says why there is none. */
export async function* proposed(
  coder: Asked,
  failed: readonly Trial[],
  course: Course,
): AsyncGenerator<Event, Script | { none: string }> {
  const languages = languagesOf(course.minds.machine.spec)
  const shape = answerShape({
    language: optional(oneOf(...languages)),
    code: optional(string()),
    why: optional(string()),
  })
  const told = yield* course.askFor(coder, codingWords(languages, failed, course), shape)
  const { by } = told
  if (!told.ok) {
    const script = scriptIn(told.words ?? '', languages)
    return script ? { ...script, by } : { none: `nobody wrote one: ${told.why}` }
  }
  const { language = languages[0]!, code = '', why } = told.value
  return code.trim() === '' ? { none: why || 'it would be no help' } : { language, code, by }
}

const fenced = /^[ \t]*```+[ \t]*(py(?:thon)?3?|js|javascript|node(?:js)?)[ \t]*\n([^]*?)\n[ \t]*```/gim

/** Whoever writes no JSON may still have written a script: the last one stands. */
function scriptIn(words: string, languages: readonly Language[]): Omit<Script, 'by'> | undefined {
  const [, named = '', code = ''] = [...words.matchAll(fenced)].at(-1) ?? []
  const language: Language = /^py/i.test(named) ? 'python' : 'node'
  return code.trim() !== '' && languages.includes(language) ? { language, code } : undefined
}
