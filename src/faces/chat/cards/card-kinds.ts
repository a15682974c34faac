import type { Question } from '../../../core/talk/question.ts'
import type { Paint, Theme } from '../theme.ts'
import { readableText } from '../../question-text.ts'

/** How a kind of question looks, and what is safest for who leaves it: an option's id, else no answer in these words. */
type Look = { title(who: string): string; paint(theme: Theme): Paint; escapeAnswer: string; safest?: string }

const waits = (theme: Theme) => theme.warn
const calm = (theme: Theme) => theme.accent

const looks: Record<Question['about'], Look> = {
  permission: { title: (who) => `${who} asks for permission`, paint: waits, escapeAnswer: 'no' },
  choice: { title: (who) => `${who} asks`, paint: calm, escapeAnswer: 'no answer' },
  trust: { title: () => 'Do you trust this?', paint: waits, escapeAnswer: 'no' },
  login: { title: (who) => `${who} needs a login`, paint: calm, escapeAnswer: 'not now' },
  quota: { title: (who) => `${who} cannot go on now`, paint: waits, escapeAnswer: 'no answer', safest: 'stop' },
  silence: { title: (who) => `${who} is silent`, paint: waits, escapeAnswer: 'no answer', safest: 'wait' },
  denied: {
    title: (who) => `${who} was not allowed to do it`,
    paint: (theme) => theme.bad,
    escapeAnswer: 'leave it so',
  },
  sharing: { title: () => 'Another vendor would learn this', paint: waits, escapeAnswer: 'no' },
}

/** The title of a card: what it is, about whom, and through whom the question came. */
export function cardTitle(question: Question, by = 'termaite'): string {
  const who = question.agent ?? by
  const title = looks[question.about].title(who)
  return [title, ...question.from].map((part) => readableText(part).replace(/\s+/g, ' ')).join(' · ')
}

export function cardPaint({ about }: Question, theme: Theme): Paint {
  return looks[about].paint(theme)
}

/** What Escape answers, and how the card says so. */
export function leaving({ about, options }: Question): { picks?: string[]; says: string } {
  const look = looks[about]
  const safest = options.find(({ id }) => id === look.safest)
  return safest ? { picks: [safest.id], says: readableText(safest.label) } : { says: look.escapeAnswer }
}
