import type { FrameData, WireVersion } from '../frames/frames.ts'
import { isMachineName, isText, objectIn, olderSide, shownWords, versionIn } from '../frames/frames.ts'

/** The path at which a machine links to its hub, and the path at which another hub of the same ledger does. */
export const linkPath = '/link'
export const relayPath = '/link/hub'

/** The first frame of a machine. */
export type Hello = WireVersion & {
  type: 'hello'
  /** The version of termaite. */
  termaite: string
  machine: string
  /** A secret of this machine for this hub alone, by which the hub recognises the machine under another key. */
  proof: string
  offers: string[]
  works: string[]
}

/**
 * The first frame of a hub, which lets the machine in or says why not. `retry`: whether it helps to try again later; `served`: the hub
 * runs on this very machine, which needs no link.
 */
export type Welcome =
  | { type: 'welcome'; version: number; termaite: string; machine: string }
  | { type: 'refused'; why: string; retry: boolean; served?: boolean }

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= 64 &&
  value.every((each) => typeof each === 'string' && /^[a-z0-9.-]{1,64}$/.test(each))

/** Reads the hello of a machine; a text says what is wrong with it. */
export function readHello(data: FrameData): Hello | string {
  const found = objectIn(data)
  if (found?.type !== 'hello') return 'The first frame of a machine has to be its hello.'
  const { termaite, machine, proof, offers, works } = found
  const version = versionIn(found)
  if (!version || !isText(termaite, 64)) return 'The hello names no version.'
  if (!isMachineName(machine))
    return 'The name of a machine has 1 to 63 letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.'
  if (typeof proof !== 'string' || !/^[0-9a-f]{64}$/.test(proof)) return 'The hello has no proof of the machine.'
  if (!areNames(offers) || !areNames(works)) return 'The hello does not say what the machine offers.'
  return { type: 'hello', ...version, termaite: shownWords(termaite), machine, proof, offers, works }
}

/** Reads the first frame of a hub; undefined if it is not one. */
export function readWelcome(data: FrameData | undefined): Welcome | undefined {
  const { type, version, termaite, machine, why, retry, served } = objectIn(data) ?? {}
  if (type === 'refused')
    return typeof why === 'string'
      ? { type, why: shownWords(why), retry: retry === true, served: served === true }
      : undefined
  if (type !== 'welcome' || typeof version !== 'number' || !isText(termaite, 64) || !isMachineName(machine))
    return undefined
  return { type, version, termaite: shownWords(termaite), machine }
}

/** Why two versions cannot talk, for the person at the machine; undefined if they can. */
export function skewWords(machine: Pick<Hello, 'version' | 'oldest' | 'termaite'>, hub: string): string | undefined {
  const older = olderSide(machine)
  if (older === 'theirs')
    return `termaite ${machine.termaite} on this machine is too old for the hub, which runs termaite ${hub}. Update this machine: npm install -g termaite@${hub}`
  if (older === 'ours')
    return `termaite ${machine.termaite} on this machine is too new for the hub, which runs termaite ${hub}. Update the hub first.`
  return undefined
}
