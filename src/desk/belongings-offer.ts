import type { Ask, Option, Question } from '../core/talk/question.ts'
import type { Changes } from '../people/belongings/changes.ts'
import type { Offered, Offers, OffersWorld } from '../people/belongings/offers.ts'
import type { OwnerProfile } from '../people/belongings/belongings-search.ts'
import { consentOptions } from '../core/talk/consent.ts'
import { borderOf } from '../border/border.ts'
import { thingWords } from '../people/belongings/belongings-search.ts'
import { carryOut, changesFor } from '../people/belongings/changes.ts'
import {
  findOffers,
  homePath,
  isAllowing,
  isHook,
  isNew,
  offerLine,
  offerLines,
  safeWords,
  secretWords,
} from '../people/belongings/offers.ts'
import { keepUsed } from '../people/belongings/used-things.ts'

export type OfferWorld = OffersWorld & { say(text: string, how?: 'error'): void; ask: Ask; signal: AbortSignal }

/**
 * Shows the things that the person has set up for other CLIs, asks which of them termaite should use, shows the resulting changes of
 * files, and writes them.
 */
export async function offerBelongings(world: OfferWorld, profiles: readonly OwnerProfile[]): Promise<Offered[]> {
  const offers = await findOffers(world, profiles)
  for (const fault of offers.faults) world.say(fault, 'error')
  if (!offers.offered.some(isNew)) {
    sayFound(world, offers)
    return []
  }
  const chosen = await chooseThings(world, offers)
  if (chosen.length === 0) {
    world.say('None of it is used. To be asked again: termaite setup --use')
    return []
  }
  const changes = changesFor(chosen.map(({ written }) => written))
  const picks = await world.ask(await writeQuestion(world, changes), world.signal)
  if (!picks?.includes('write')) {
    world.say('Nothing was changed.')
    return []
  }
  await useThings(world, chosen, changes)
  return chosen
}

/** Lists the things that were found, if none of them is a new offer. */
export function sayFound({ place, say }: Pick<OfferWorld, 'place' | 'say'>, offers: Offers): void {
  const lines = offerLines(offers, place.env.HOME)
  if (lines.length > 0) say(['Found in the files of your other CLIs:', ...lines].join('\n'))
}

/** Records what is taken into use, writes it, and says what the person has to do now. */
export async function useThings(world: OfferWorld, chosen: readonly Offered[], changes: Changes): Promise<void> {
  const { store, clock, place } = world
  await keepUsed(store, chosen, clock.now())
  carryOut(changes)
  const inProject = chosen.some(({ thing }) => thing.source.owner === 'project')
  world.say(
    [
      `termaite uses ${chosen.length === 1 ? 'this' : `these ${chosen.length}`} now. To take it back: termaite setup --use --undo`,
      ...(inProject
        ? ['The settings of this project have changed: termaite trust shows them and asks you again.']
        : []),
      ...secretWords(chosen, place.env.HOME),
    ].join('\n'),
  )
}

async function chooseThings(world: OfferWorld, offers: Offers): Promise<Offered[]> {
  const fresh = offers.offered.filter(isNew)
  const plain = fresh.filter((one) => !isHook(one) && !isAllowing(one))
  const allowing = fresh.filter(isAllowing)
  const chosen: Offered[] = []
  const shown = offerLines(offers, world.place.env.HOME).join('\n')
  if (plain.length > 0) chosen.push(...(await chooseFrom(world, plain, plainText(fresh, plain), shown)))
  else world.say(['Found in the files of your other CLIs:', shown].join('\n'))
  if (allowing.length > 0)
    chosen.push(
      ...(await chooseFrom(
        world,
        allowing,
        'Let termaite’s own agent do these without asking, too?',
        linesOf(allowing, world),
      )),
    )
  // A hook is a program that runs by itself, so each one gets its own question.
  for (const one of fresh.filter(isHook)) if (await mayRun(world, one)) chosen.push(one)
  return chosen
}

function plainText(fresh: readonly Offered[], plain: readonly Offered[]): string {
  const next = [
    ...(fresh.some(isAllowing) ? ['rules that allow something'] : []),
    ...(fresh.some(isHook) ? ['hooks'] : []),
  ]
  const later = next.length === 0 ? '' : ` Questions about ${next.join(' and ')} follow.`
  const many = plain.length === 1 ? 'One of these is' : `${plain.length} of these are`
  return `${many} new to termaite. Use ${plain.length === 1 ? 'it' : 'them'}?${later}`
}

const linesOf = (some: readonly Offered[], { place }: OfferWorld) =>
  some.map((one) => offerLine(one, place.env.HOME)).join('\n')

/** Asks which of these things to use: all, none, or individual ones. */
export async function chooseFrom(
  world: OfferWorld,
  from: readonly Offered[],
  text: string,
  shown: string,
): Promise<Offered[]> {
  const picks = await world.ask(
    {
      about: 'choice',
      from: [],
      text,
      shows: [{ type: 'text', text: shown }],
      options: consentOptions({
        once: { id: 'all', label: from.length === 1 ? 'Yes' : `Yes, all ${from.length}` },
        no: { id: 'none', label: 'No, none of it' },
        others: from.length === 1 ? [] : [{ id: 'some', label: 'Some of it: choose next' }],
      }),
      enter: 'none',
    },
    world.signal,
  )
  if (picks?.includes('all')) return [...from]
  if (!picks?.includes('some')) return []
  const some: Offered[] = []
  // One question for each CLI, because a longer list would not fit on a screen.
  for (const title of new Set(from.map(({ thing }) => thing.source.title))) {
    const own = from.filter(({ thing }) => thing.source.title === title)
    const options: Option[] = own.map((one, at) => ({ id: String(at), label: offerLine(one, world.place.env.HOME) }))
    const ids = await world.ask(
      {
        about: 'choice',
        from: [],
        text: `Which of these of ${title}?`,
        multiple: true,
        options,
        unanswered: 'use none of them',
      },
      world.signal,
    )
    some.push(...own.filter((_, at) => ids?.includes(String(at))))
  }
  return some
}

/** Asks whether one hook may run from now on. */
export async function mayRun({ ask, signal, place }: OfferWorld, { thing }: Offered): Promise<boolean> {
  if (thing.kind !== 'hook') return false
  const { event, matcher, command, source } = thing
  const when = matcher === undefined || matcher === '*' ? event : `${event} (${matcher})`
  const question: Question = {
    about: 'permission',
    from: [],
    text: `Let termaite run this hook of ${source.title} at ${when}? It comes from ${homePath(source.file, place.env.HOME)} and would run without a further question, in the sandbox if there is one.`,
    shows: [{ type: 'command', command }],
    options: consentOptions({
      always: { id: 'run', label: 'Yes, run it', grants: 'this command at this event' },
      no: { id: 'no', label: 'No, do not use it' },
    }),
    enter: 'no',
  }
  return (await ask(question, signal))?.includes('run') === true
}

/** The question before anything is written: the exact lines of each file, and each link. Secrets in the files are masked. */
export async function writeQuestion({ place }: OfferWorld, { edits, links }: Changes): Promise<Question> {
  const border = borderOf(place.env, place.home)
  const masked = (text: string) => border.to('export', text)
  const list = links.map(({ path, target }) => `${path} → ${target}`)
  return {
    about: 'permission',
    from: [],
    text: 'Write this?',
    shows: [
      ...edits.map(({ path, before, after }) => ({
        type: 'diff' as const,
        path,
        ...(before === undefined ? {} : { before: masked(before) }),
        after: masked(after),
      })),
      ...(list.length > 0
        ? [{ type: 'text' as const, text: ['Links, so that nothing is copied:', ...list].join('\n') }]
        : []),
    ],
    options: consentOptions({
      once: { id: 'write', label: 'Yes, write it' },
      no: { id: 'no', label: 'No, change nothing' },
    }),
    enter: 'no',
  }
}

/** Counts the new things, for a setup that nobody watches. */
export async function newThings(world: OffersWorld, profiles: readonly OwnerProfile[]): Promise<string | undefined> {
  const { offered } = await findOffers(world, profiles)
  const fresh = offered.filter(isNew)
  if (fresh.length === 0) return undefined
  const titles = [...new Set(fresh.map(({ thing }) => thing.source.title))]
  const words = fresh.slice(0, 3).map(({ thing }) => safeWords(thingWords(thing)))
  const more = fresh.length > words.length ? `, and ${fresh.length - words.length} more` : ''
  return `termaite can use what you have set up for ${titles.join(', ')}: ${words.join(', ')}${more}. To look and choose: termaite setup --use`
}
