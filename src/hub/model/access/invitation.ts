/** An invitation for the machine of one agent: a code that is exchanged once, within a short time, for a key of the role `agent`. */
export type HubInvite = {
  id: string
  /** The name of the key, and so of the agent. */
  name: string
  /** SHA-256 of the code, in hex. */
  hash: string
  /** The name of the client that made the invitation. */
  by: string
  made: number
  ends: number
  /** The lifetime of the key, if it expires. */
  lifeMs?: number
  /** The hash of the secret that the machine made for itself: repeating the request after a lost answer returns the same key. */
  used?: { hash: string; at: number }
}

/** An invitation as it is listed: without anything that would reveal its code. */
export type ListedInvite = Omit<HubInvite, 'hash' | 'used'> & { usedAt?: number }

/** A new invitation. Its code is shown once, and stored nowhere. */
export type NewInvite = { invite: ListedInvite; code: string }

/** `validMs`: how long the code can be used; `lifeMs`: the lifetime of the key, if it expires. */
export type InviteWish = { validMs?: number; lifeMs?: number }

/** Whether a machine can still join with an invitation. */
export const isOpenInvite = ({ ends, used }: HubInvite, now: number) => used === undefined && ends > now

/** Stores the invitations, one for each name regardless of case; every change is durable when its promise resolves. */
export interface HubInviteBook {
  all(): Promise<HubInvite[]>
  withHash(hash: string): Promise<HubInvite | undefined>
  /** Stores an invitation, in place of an earlier one for the same name, and removes those that expired before `endedBefore`. */
  put(invite: HubInvite, endedBefore: number): Promise<void>
  /** Records who used an invitation; false if it no longer exists or was used already. */
  use(id: string, used: { hash: string; at: number }): Promise<boolean>
  /** Removes the invitation for a name. */
  removeNamed(name: string): Promise<void>
}

/** The letters of codes: those that look alike are left out. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const groups = 4
const groupLetters = 5

/** A code of a hundred random bits in four groups, which a person can read aloud. Each of the random `bytes` gives one letter. */
export function codeOf(bytes: Uint8Array): string {
  const all = Array.from(bytes.subarray(0, groups * groupLetters), (byte) => letters[byte % 32]!)
  return Array.from({ length: groups }, (_, at) => all.slice(at * groupLetters, (at + 1) * groupLetters).join('')).join(
    '-',
  )
}

/** A typed code in the form in which it was made; undefined if it cannot be a code. */
export function readCode(typed: string): string | undefined {
  const plain = typed.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  if (plain.length !== groups * groupLetters || [...plain].some((letter) => !letters.includes(letter))) return undefined
  return plain.replaceAll(/(.{5})(?=.)/g, '$1-')
}
