import type { Ask, Question } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Offer } from '../../app/offers/agent-offers.ts'
import { leashMeanings } from '../../app/agent-channel.ts'

/** Whoever can be asked. The first option of each question is what is usual. */
export type Person = { ask: Ask; signal: AbortSignal }

const all = '*'

/** Who takes turns, in their order; undefined when the person leaves it. */
export async function chooseAgents(person: Person, found: readonly Offer[]): Promise<Offer[] | undefined> {
  if (found.length === 1) return [...found]
  const usual = usualOf(found)
  const picks = await asked(person, {
    text: 'Who takes turns?',
    multiple: true,
    options: [
      { id: all, label: usualWords(usual, found) },
      ...found.map(({ name, title }) => ({ id: name, label: title })),
    ],
  })
  if (!picks) return undefined
  return picks.includes(all)
    ? found.filter((offer) => usual.includes(offer) || picks.includes(offer.name))
    : order(
        person,
        picks.flatMap((pick) => found.filter(({ name }) => name === pick)),
      )
}

/** Nobody's money is spent, and nobody is slowed down, by what was not picked. */
function usualOf(found: readonly Offer[]): readonly Offer[] {
  const clis = found.filter(({ aside }) => !aside)
  return clis.length > 0 ? clis : found
}

function usualWords(usual: readonly Offer[], found: readonly Offer[]): string {
  if (usual.length === found.length) return 'All of them, in this order'
  return usual.length === 1 ? `${usual[0]!.title} alone` : 'The CLIs, in this order'
}

/** One after the other, until the rest may stay as it is. */
async function order(person: Person, chosen: Offer[]): Promise<Offer[] | undefined> {
  const ordered: Offer[] = []
  for (let rest = chosen; ; rest = rest.filter((offer) => !ordered.includes(offer))) {
    if (rest.length < 2) return [...ordered, ...rest]
    const picks = await asked(person, {
      text: ordered.length === 0 ? 'Who is asked first?' : `And after ${ordered.at(-1)!.title}?`,
      options: [
        { id: all, label: rest.map(({ title }) => title).join(', then ') },
        ...rest.map(({ name, title }) => ({ id: name, label: title })),
      ],
    })
    if (!picks) return undefined
    if (picks.includes(all)) return [...ordered, ...rest]
    ordered.push(...rest.filter(({ name }) => picks.includes(name)))
  }
}

/** Never `all`: setup picks no flag that switches a CLI's own safety off. */
const offered: readonly Leash[] = ['ask', 'edit', 'read']

export async function chooseLeash(person: Person, chosen: readonly Offer[]): Promise<Leash | undefined> {
  const meaning = (leash: Leash) => chosen.map((offer) => `  ${offer.name}: ${leashOn(offer, leash)}`).join('\n')
  const picks = await asked(person, {
    text: 'How much may they do?',
    shows: [{ type: 'text', text: offered.map((leash) => `${leash}\n${meaning(leash)}`).join('\n') }],
    options: offered.map((leash) => ({ id: leash, label: `${leash}: ${leashMeanings[leash]}` })),
  })
  return offered.find((leash) => picks?.includes(leash))
}

export async function mayReplace(person: Person, before: readonly string[]): Promise<boolean> {
  const picks = await asked(person, {
    about: 'permission',
    text: `${before.join(' and ')} ${before.length > 1 ? 'are' : 'is'} there already. Replace? A copy is kept.`,
    options: [
      { id: 'replace', label: 'Replace' },
      { id: 'leave', label: 'Leave it' },
    ],
  })
  return picks?.includes('replace') === true
}

export function leashOn(offer: Offer, leash: Leash): string {
  return offer.means(leash) ?? 'cannot be held to it'
}

function asked({ ask, signal }: Person, question: Partial<Question> & Pick<Question, 'text' | 'options'>) {
  return ask({ about: 'choice', from: [], ...question }, signal)
}
