import type { OwnerProfile } from '../../../people/belongings/belongings-search.ts'
import type { Offered, Offers } from '../../../people/belongings/offers.ts'
import type { OfferWorld } from '../../../desk/belongings-offer.ts'
import type { Io } from '../../../core/io.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import { print, say, UsageError, voiceOf } from '../../../core/io.ts'
import { confirm, personAt } from '../../../questions/terminal-questions.ts'
import { list } from '../../../base/text/table.ts'
import { readSettings } from '../../../settings/settings.ts'
import { allProfiles } from '../../../profiles/all.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { placeOf } from '../../../home/place.ts'
import { changesFor } from '../../../people/belongings/changes.ts'
import { hasBelongings, thingWords } from '../../../people/belongings/belongings-search.ts'
import { findOffers, isAllowing, isHook, isNew, offerLines, safeWords } from '../../../people/belongings/offers.ts'
import { takeAllBack, usedThings } from '../../../people/belongings/used-things.ts'
import { offerBelongings, sayFound, useThings } from '../../../desk/belongings-offer.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** `termaite setup --use`: uses things that the person has set up for other CLIs, shows them, or stops using them. */
export async function use(io: Io, { values, words }: Parsed): Promise<number> {
  const chosen = chosenProfiles(words)
  const place = { ...placeOf(io), env: io.env }
  const world: OfferWorld = {
    place,
    store: fileStore(place.home, voiceOf(io)),
    clock: io.clock,
    signal: io.signal,
    say: (text, how) => (how === 'error' ? say(io, `termaite: ${text}`) : print(io, text)),
    ask: personAt(io),
  }
  if (values.undo) return undo(io, world, chosen, values)
  if (values['dry-run']) return show(io, await findOffers(world, chosen), chosen, values.json === true)
  await refuseWithoutSettings(io, place.home)
  if (values.yes) return useAll(io, world, chosen, values.json === true)
  if (io.piped || !io.in.isTTY)
    throw new UsageError(
      'setup --use asks what to use, and there is no terminal to ask in. --dry-run shows what there is; --yes uses all of it but hooks and rules that allow something.',
    )
  await offerBelongings(world, chosen)
  return 0
}

function chosenProfiles(words: readonly string[]): OwnerProfile[] {
  const known = allProfiles().filter(hasBelongings)
  const names = known.map(({ name }) => name)
  const strange = words.find((word) => !names.includes(word))
  if (strange !== undefined) throw new UsageError(`setup: found "${strange}", allowed: ${names.join(', ')}.`)
  return words.length === 0 ? known : known.filter(({ name }) => words.includes(name))
}

/** Settings that are missing are made by setup itself, and broken ones are not written to. */
async function refuseWithoutSettings(io: Io, home: string): Promise<void> {
  if (!['settings.json', 'config.yaml'].some((name) => existsSync(join(home, name))))
    throw new UsageError('there are no settings yet. Run termaite setup: it offers this at its end.')
  await readSettings({ home }, { env: io.env })
}

function show(io: Io, offers: Offers, chosen: readonly OwnerProfile[], json: boolean): number {
  for (const fault of offers.faults) say(io, `termaite: ${fault}`)
  if (json) print(io, JSON.stringify(asJson(offers)))
  else {
    const lines = offerLines(offers, io.env.HOME, true)
    if (lines.length > 0) print(io, lines.join('\n'))
    else say(io, `Found nothing that termaite could use of ${list(chosen.map(({ title }) => title))}.`)
    const fresh = offers.offered.filter(isNew).length
    if (fresh > 0)
      say(io, `${fresh} of these ${fresh === 1 ? 'is' : 'are'} not used yet. Leave --dry-run out to choose.`)
  }
  return 0
}

/** Uses all new things that neither run by themselves nor allow anything. */
async function useAll(io: Io, world: OfferWorld, chosen: readonly OwnerProfile[], json: boolean): Promise<number> {
  const offers = await findOffers(world, chosen)
  for (const fault of offers.faults) say(io, `termaite: ${fault}`)
  const fresh = offers.offered.filter(isNew)
  const taken = fresh.filter((one) => !isHook(one) && !isAllowing(one))
  const quiet = { ...world, say: (text: string) => say(io, text) }
  if (!json) sayFound(world, offers)
  if (taken.length > 0) await useThings(json ? quiet : world, taken, changesFor(taken.map(({ written }) => written)))
  else if (!json) say(io, 'There is nothing new to use.')
  if (fresh.length > taken.length)
    say(
      io,
      `Hooks and rules that allow something are only taken after your own yes: ${list(fresh.filter((one) => !taken.includes(one)).map(({ thing }) => safeWords(thingWords(thing))))}. Run termaite setup --use in a terminal.`,
    )
  if (json) print(io, JSON.stringify(asJson(await findOffers(world, chosen))))
  return 0
}

const asJson = ({ offered, unusable, faults }: Offers) => ({
  things: offered.map(({ thing, standing }: Offered) => ({
    cli: thing.source.cli,
    kind: thing.kind,
    what: safeWords(thingWords(thing)),
    from: thing.source.file,
    owner: thing.source.owner,
    standing,
    ...(thing.kind === 'server' ? { secrets: thing.secrets } : {}),
  })),
  unusable: unusable.map(({ what, why, source }) => ({
    cli: source.cli,
    what: safeWords(what),
    why,
    from: source.file,
  })),
  faults,
})

async function undo(
  io: Io,
  world: OfferWorld,
  chosen: readonly OwnerProfile[],
  values: Parsed['values'],
): Promise<number> {
  const clis = chosen.map(({ name }) => name)
  const used = await usedThings(world.store, clis)
  if (used.length === 0) {
    say(io, 'Nothing of your other CLIs was taken into use by termaite setup.')
    return 0
  }
  print(
    io,
    ['termaite uses:', ...used.map(({ cli, what, source }) => `  ${safeWords(what)} · ${cli} · ${source}`)].join('\n'),
  )
  if (values['dry-run']) return 0
  if (!(await confirm(io, 'Take this back? The files of the other programs are not touched.', values.yes === true))) {
    say(io, 'Nothing was changed.')
    return 1
  }
  const { gone, left } = await takeAllBack(world.store, clis)
  print(io, `Took back ${gone.length} of ${used.length}.`)
  for (const { what } of left) say(io, `${safeWords(what)} was changed or removed since, and was left as it is.`)
  return 0
}
