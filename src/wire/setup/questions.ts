import type { Profile } from '../../core/screen/profile.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import type { Leash } from '../../core/work/agent.ts'
import { channelFor, leashMeanings } from '../channel.ts'

/** Whoever can be asked. The first option of each question is what is usual. */
export type Person = { ask: Ask; signal: AbortSignal }

const all = '*'

/** Who takes turns, in their order; undefined when the person leaves it. */
export async function chooseAgents(person: Person, found: readonly Profile[]): Promise<Profile[] | undefined> {
  if (found.length === 1) return [...found]
  const picks = await asked(person, {
    text: 'Who takes turns?',
    multiple: true,
    options: [
      { id: all, label: 'All of them, in this order' },
      ...found.map(({ name, title }) => ({ id: name, label: title })),
    ],
  })
  if (!picks) return undefined
  return picks.includes(all)
    ? [...found]
    : order(
        person,
        picks.flatMap((pick) => found.filter(({ name }) => name === pick)),
      )
}

/** One after the other, until the rest may stay as it is. */
async function order(person: Person, chosen: Profile[]): Promise<Profile[] | undefined> {
  const ordered: Profile[] = []
  for (let rest = chosen; ; rest = rest.filter((profile) => !ordered.includes(profile))) {
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

export async function chooseLeash(person: Person, chosen: readonly Profile[]): Promise<Leash | undefined> {
  const meaning = (leash: Leash) => chosen.map((profile) => `  ${profile.name}: ${leashOn(profile, leash)}`).join('\n')
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

export function leashOn(profile: Profile, leash: Leash): string {
  return channelFor(profile, leash)?.leashes[leash] ?? 'cannot be held to it'
}

function asked({ ask, signal }: Person, question: Partial<Question> & Pick<Question, 'text' | 'options'>) {
  return ask({ about: 'choice', from: [], ...question }, signal)
}
