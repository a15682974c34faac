import type { Question, Shown } from '../core/talk/question.ts'

/** What moves the cursor, turns the direction of writing, or is not seen at all; a line may end as on Windows. */
const unseen = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\r(?!\n)/g

/**
 * A text before a yes, with every control character spelled out: taken away, a backspace would take what stands
 * before it along, and something else would be allowed than what was seen.
 */
export function visible(text: string): string {
  return text.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A question of an agent as a person may be shown it: what is picked goes back by the ids, which stay as they are. */
export function visibleQuestion(question: Question): Question {
  const { text, shows, options } = question
  return {
    ...question,
    text: visible(text),
    ...(shows ? { shows: shows.map(visibleShown) } : {}),
    options: options.map(({ label, grants, ...option }) => ({
      ...option,
      label: visible(label),
      ...(grants === undefined ? {} : { grants: visible(grants) }),
    })),
  }
}

function visibleShown(shown: Shown): Shown {
  switch (shown.type) {
    case 'command':
      return {
        ...shown,
        command: visible(shown.command),
        ...(shown.cwd === undefined ? {} : { cwd: visible(shown.cwd) }),
      }
    case 'diff': {
      const before = shown.before === undefined ? {} : { before: visible(shown.before) }
      return { ...shown, path: visible(shown.path), ...before, after: visible(shown.after) }
    }
    case 'text':
      return { ...shown, text: visible(shown.text) }
  }
}
