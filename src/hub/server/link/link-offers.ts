import type { MachineOffer } from '../../model/machine-standing.ts'
import type { Settings } from '../../../settings/settings.ts'
import { UsageError } from '../../../core/io.ts'
import { machineOffers, neededOffer, offerWords, usualOffers } from '../../model/machine-standing.ts'

/** Options of the command line for the link of this machine. */
export type LinkWishes = { offer?: string; machineName?: string }

/**
 * The offers of this machine: from the option, otherwise from the person's settings, otherwise the usual ones. An offer that needs
 * another one includes it.
 */
export function offersOf({ offer }: LinkWishes, settings: Pick<Settings, 'link'>): MachineOffer[] {
  const named =
    offer === undefined ? (settings.link.offer ?? usualOffers) : offer.split(',').filter((word) => word !== '')
  const known = named.map((word) => machineOffers.find((each) => each === word.trim()) ?? strange(word))
  const needed = known.flatMap((each) => neededOffer[each] ?? [])
  return machineOffers.filter((each) => known.includes(each) || needed.includes(each))
}

function strange(word: string): never {
  throw new UsageError(`--offer: found "${word}", allowed: ${machineOffers.join(', ')}, separated by commas.`)
}

/** The text that says what people at the hub can see and do on this machine. */
export function offeredWords(machine: string, offers: readonly MachineOffer[]): string {
  const can = offers.map((each) => offerWords[each])
  if (can.length === 0) return `People at the hub see nothing of ${machine}.`
  return `People who are admins at the hub can ${can.length > 1 ? `${can.slice(0, -1).join(', ')} and ${can.at(-1)}` : can[0]}. Change that with --offer.`
}
