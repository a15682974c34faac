import type { Question } from '../../../core/talk/question.ts'
import type { Paint, Theme } from '../theme/theme.ts'
import { words } from './words.ts'

/** How a kind of question looks, and what is safest for who leaves it: an option's id, else no answer in these words. */
type Look = { title(who: string): string; paint(theme: Theme): Paint; leaving: string; safest?: string }

const waits = (theme: Theme) => theme.warn
const calm = (theme: Theme) => theme.accent

const looks: Record<Question['about'], Look> = {
  permission: { title: (who) => `${who} asks for permission`, paint: waits, leaving: 'no' },
  choice: { title: (who) => `${who} asks`, paint: calm, leaving: 'no answer' },
  trust: { title: () => 'Do you trust this?', paint: waits, leaving: 'no' },
  login: { title: (who) => `${who} needs a login`, paint: calm, leaving: 'not now' },
  quota: { title: (who) => `${who} cannot go on now`, paint: waits, leaving: 'no answer', safest: 'stop' },
  silence: { title: (who) => `${who} is silent`, paint: waits, leaving: 'no answer', safest: 'wait' },
  denied: { title: (who) => `${who} was not allowed to do it`, paint: (theme) => theme.bad, leaving: 'leave it so' },
  sharing: { title: () => 'Another vendor would learn this', paint: waits, leaving: 'no' },
}

/** The title of a card: what it is, about whom, and through whom the question came. */
export function titleOf(question: Question, by = 'termaite'): string {
  const who = question.agent ?? by
  const title = looks[question.about].title(who)
  return [title, ...question.from].map((part) => words(part).replace(/\s+/g, ' ')).join(' · ')
}

export function paintOf({ about }: Question, theme: Theme): Paint {
  return looks[about].paint(theme)
}

/** What Escape answers, and how the card says so. */
export function leaving({ about, options }: Question): { picks?: string[]; says: string } {
  const look = looks[about]
  const safest = options.find(({ id }) => id === look.safest)
  return safest ? { picks: [safest.id], says: words(safest.label) } : { says: look.leaving }
}
