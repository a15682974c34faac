import type { Question } from '../../../core/talk/question.ts'
import type { Paint, Theme } from '../theme.ts'
import { readableText } from '../../question-text.ts'

/**
 * A kind of question: its title, its colour, and what Escape does. Escape picks the option with the id `safest` where
 * there is one; otherwise the question stays unanswered, and `unanswered` says what happens then.
 */
type CardKind = { title(who: string): string; paint(theme: Theme): Paint; unanswered: string; safest?: string }

const warning = (theme: Theme) => theme.warn
const calm = (theme: Theme) => theme.accent
const skip = 'skip this question'

const kinds: Record<Question['about'], CardKind> = {
  permission: { title: (who) => `${who} asks for permission`, paint: warning, unanswered: 'no' },
  choice: { title: (who) => `${who} asks`, paint: calm, unanswered: skip },
  trust: { title: () => 'Do you trust this?', paint: warning, unanswered: 'no' },
  login: { title: (who) => `${who} needs a login`, paint: calm, unanswered: 'not now' },
  quota: { title: (who) => `${who} cannot go on now`, paint: warning, unanswered: skip, safest: 'stop' },
  silence: { title: (who) => `${who} is silent`, paint: warning, unanswered: skip, safest: 'wait' },
  denied: {
    title: (who) => `${who} was not allowed to do it`,
    paint: (theme) => theme.bad,
    unanswered: 'leave it undone',
  },
  sharing: { title: () => 'Another vendor would learn this', paint: warning, unanswered: 'no' },
}

/** The title of a card: its kind, the agent it is about, and the agents through which the question came. */
export function cardTitle(question: Question, by = 'termaite'): string {
  const title = kinds[question.about].title(question.agent ?? by)
  return [title, ...question.from].map((part) => readableText(part).replace(/\s+/g, ' ')).join(' · ')
}

export function cardPaint({ about }: Question, theme: Theme): Paint {
  return kinds[about].paint(theme)
}

/** The answer of Escape, and the words with which the card announces it. */
export function escapeAnswer({ about, options }: Question): { picks?: string[]; says: string } {
  const kind = kinds[about]
  const safest = options.find(({ id }) => id === kind.safest)
  return safest ? { picks: [safest.id], says: readableText(safest.label) } : { says: kind.unanswered }
}
