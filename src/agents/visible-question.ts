import type { Question, Shown } from '../core/talk/question.ts'
import { defined } from '../base/defined.ts'

/** Characters that move the cursor, change the direction of writing, or are invisible; a line may end as on Windows. */
const hidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\r(?!\n)/g

/**
 * Spells out every control character of a text that a person says yes to. A character that was merely left out could hide the text before
 * it (a backspace does), and the person would allow something other than they saw.
 */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** An agent's question, safe to show to a person; the ids of its options, by which it is answered, stay unchanged. */
export function visibleQuestion(question: Question): Question {
  const { text, shows, options } = question
  return defined({
    ...question,
    text: visible(text),
    shows: shows?.map(visibleShown),
    options: options.map(({ label, grants, ...option }) =>
      defined({ ...option, label: visible(label), grants: visibleOr(grants) }),
    ),
  })
}

function visibleShown(shown: Shown): Shown {
  switch (shown.type) {
    case 'command':
      return defined({ ...shown, command: visible(shown.command), cwd: visibleOr(shown.cwd) })
    case 'diff': {
      const { path, before, after } = shown
      return defined({ ...shown, path: visible(path), before: visibleOr(before), after: visible(after) })
    }
    case 'text':
      return { ...shown, text: visible(shown.text) }
  }
}

const visibleOr = (text: string | undefined) => (text === undefined ? undefined : visible(text))
