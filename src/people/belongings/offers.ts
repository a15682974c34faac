import type { Clock } from '../../base/time/clock.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Thing, FoundBelongings, OwnerProfile, ThingsPlace } from './belongings-search.ts'
import type { ThingStanding, Written } from './changes.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../core/io.ts'
import { UnusableConfig } from '../../native/mcp-config/config-format.ts'
import { terminalText } from '../../base/text/ansi.ts'
import { oneLine } from '../../base/text/table.ts'
import { mask } from '../../safety/redaction.ts'
import { TrustBook } from '../../safety/trust/folder-trust.ts'
import { findThings, thingWords } from './belongings-search.ts'
import { standingOf, writtenFor } from './changes.ts'

/**
 * A thing with its state. `waiting`: it came with a project that the person has not trusted. `in place`: termaite reads it in place,
 * because the project is trusted.
 */
export type Offered = { thing: Thing; written: Written; standing: ThingStanding | 'waiting' | 'in place' }

export type Offers = Omit<FoundBelongings, 'things'> & { offered: Offered[] }

export type OffersWorld = { place: ThingsPlace; store: Store; clock: Clock }

/** Finds the things set up for other CLIs that termaite can use, with the state of each. */
export async function findOffers(
  { place, store, clock }: OffersWorld,
  profiles: readonly OwnerProfile[],
): Promise<Offers> {
  const { things, unusable, faults } = await findThings(profiles, place)
  const trust = await new TrustBook(store, { clock, own: place.home }).of(place.root, place.cwd)
  const inYaml = !existsSync(join(place.home, 'settings.json')) && existsSync(join(place.home, 'config.yaml'))
  const offered: Offered[] = []
  for (const thing of things) {
    const written = writtenFor(thing, place)
    if (inYaml && thing.source.owner === 'person' && (written.as === 'entry' || written.as === 'item')) {
      const why = 'your settings are in config.yaml, which termaite does not edit'
      unusable.push({ what: thingWords(thing), why, source: thing.source })
      continue
    }
    const isProject = thing.source.owner === 'project'
    if (isProject && thing.inPlace) {
      const read = trust.state === 'trusted'
      offered.push({ thing, written, standing: read ? 'in place' : 'waiting' })
    } else if (isProject && !trust.agreed) offered.push({ thing, written, standing: 'waiting' })
    else offered.push({ thing, written, standing: standing(written) })
  }
  return { offered: withoutDoubles(offered), unusable, faults }
}

function standing(written: Written): ThingStanding {
  try {
    return standingOf(written)
  } catch (error) {
    if (!(error instanceof UnusableConfig) || written.as === 'link') throw error
    throw new UsageError(`${written.file} ${error.message}. Nothing was changed.`)
  }
}

/** If two new things would take the same name, only the first stays new. */
function withoutDoubles(offered: readonly Offered[]): Offered[] {
  const names = new Set<string>()
  return offered.flatMap((one): Offered[] => {
    const { written, standing: now } = one
    if (now !== 'new' || written.as === 'line') return [one]
    const name =
      written.as === 'link'
        ? written.path
        : JSON.stringify([written.file, written.keys, written.as === 'item' ? written.value : ''])
    if (!names.has(name)) {
      names.add(name)
      return [one]
    }
    return written.as === 'item' ? [] : [{ ...one, standing: 'taken' }]
  })
}

/** Untrusted text on one line, safe for a terminal, without anything that looks like a secret. */
export const safeWords = (words: string) => oneLine(terminalText(mask(words)), 300)

export const isNew = ({ standing: now }: Offered) => now === 'new'

/** Whether a thing widens an agent's rights, or runs by itself: it needs its own yes. */
export const isHook = ({ thing }: Offered) => thing.kind === 'hook'
export const isAllowing = ({ thing }: Offered) => thing.kind === 'rule' && thing.list === 'allow'

/** A path as a person writes it. */
export const homePath = (path: string, home: string | undefined) =>
  home !== undefined && home !== '/' && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path

/** The text about a thing beside its name and its file. */
const standingWords: Readonly<Record<Offered['standing'], string>> = {
  new: '',
  used: 'used already',
  taken: 'not used: something else has its name here',
  waiting: 'waits until you trust the folder (termaite trust)',
  'in place': 'read where it lies',
}

/** How many unusable things of one CLI are shown, unless all of them are asked for. */
const mostUnusable = 5

/** Everything that was found, by CLI, in lines without any value that may be a secret. */
export function offerLines({ offered, unusable }: Offers, home: string | undefined, all = false): string[] {
  const titles = [
    ...new Set([...offered.map(({ thing }) => thing.source.title), ...unusable.map(({ source }) => source.title)]),
  ]
  return titles.flatMap((title) => {
    const own = offered.filter(({ thing }) => thing.source.title === title)
    const left = unusable.filter(({ source }) => source.title === title)
    const shown = all ? left : left.slice(0, mostUnusable)
    return [
      title,
      ...own.map((one) => `  ${offerLine(one, home)}`),
      ...shown.map(
        ({ what, why, source }) =>
          `  cannot be used: ${safeWords(what)} · ${safeWords(homePath(source.file, home))} · ${safeWords(why)}`,
      ),
      ...(left.length > shown.length
        ? [`  and ${left.length - shown.length} more that cannot be used; termaite setup --use --dry-run names them`]
        : []),
    ]
  })
}

export function offerLine({ thing, standing: now }: Offered, home: string | undefined): string {
  const from = safeWords(homePath(thing.source.file, home))
  const parts = [safeWords(thingWords(thing)), from, useWords(thing), standingWords[now]]
  return parts.filter((part) => part !== '').join(' · ')
}

/** How to call a thing once it is used. */
function useWords(thing: Thing): string {
  if (thing.kind === 'commands') return `as /${thing.link}:<name>`
  if (thing.kind !== 'server' || thing.secrets.length === 0) return ''
  return `without its secret ${thing.secrets.map(({ field }) => field).join(', ')}`
}

/** Names the places of the secrets that were not copied, and says what to do about them. */
export function secretWords(offered: readonly Offered[], home: string | undefined): string[] {
  return offered.flatMap(({ thing }) =>
    thing.kind !== 'server'
      ? []
      : thing.secrets.map(
          ({ field, variable }) =>
            `${thing.name} needs the variable ${variable}: its value is ${field} of that server in ${homePath(thing.source.file, home)}, and was not copied. Set it where you start termaite.`,
        ),
  )
}
