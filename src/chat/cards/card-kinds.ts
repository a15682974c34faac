import type { Question } from '../../core/talk/question.ts'
import type { Paint, Theme } from '../style/theme.ts'
import { readableText } from '../../questions/question-text.ts'

/** A kind of question: its title and its colour. */
type CardKind = { title(who: string): string; paint(theme: Theme): Paint }

const warning = (theme: Theme) => theme.warn
const calm = (theme: Theme) => theme.accent

const kinds: Record<Question['about'], CardKind> = {
  permission: { title: (who) => `${who} asks for permission`, paint: warning },
  choice: { title: (who) => `${who} asks`, paint: calm },
  trust: { title: () => 'Do you trust this?', paint: warning },
  login: { title: (who) => `${who} needs a login`, paint: calm },
  quota: { title: (who) => `${who} cannot go on now`, paint: warning },
  silence: { title: (who) => `${who} is silent`, paint: warning },
  denied: { title: (who) => `${who} was refused permission`, paint: (theme) => theme.bad },
  sharing: { title: () => 'This would be shared with another vendor', paint: warning },
}

/** The title of a card: its kind, the agent it is about, and the agents through which the question came. */
export function cardTitle(question: Question, by = 'termaite'): string {
  const title = kinds[question.about].title(question.agent ?? by)
  return [title, ...question.from].map((part) => readableText(part).replace(/\s+/g, ' ')).join(' · ')
}

export function cardPaint({ about }: Question, theme: Theme): Paint {
  return kinds[about].paint(theme)
}
