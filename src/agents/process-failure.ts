import type { Ended, Profile } from '../core/profile/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Leash } from '../core/work/agent.ts'
import { closingMessage, plainFailure, short } from './plain-failure.ts'

/** The failure that a finished process indicates, if any; the profile's own rules come first. */
export function processFailure(name: string, ended: Ended, profile: Profile | undefined): Failure | undefined {
  const known = profile ? profile.failure(ended) : plainFailure(ended)
  if (known) return known
  if (ended.code === 0) return undefined
  if (ended.code === 127 || ended.code === 126)
    return missingProgram(name, closingLine(ended.err) || `exit code ${ended.code}`, profile)
  const how = ended.code === undefined ? `was killed by ${ended.signal}` : `failed with exit code ${ended.code}`
  const words = closingLine(ended.err) || closingLine(ended.out)
  return { kind: 'crash', message: `${name} ${how}${words ? `: ${words}` : ' and printed no message'}` }
}

/** The failure of a program that is not installed or may not be run. */
export function missingProgram(name: string, why: string, profile: Profile | undefined): Failure {
  const next = profile ? `install it with: ${profile.install}` : 'check its command in the settings'
  return { kind: 'missing', message: `${name} could not be run (${why}); ${next}` }
}

/** The failure of a CLI that is not started because it would do more than its leash allows. */
export function leashFailure(
  name: string,
  leash: Leash,
  facts: Pick<Profile, 'leashes'> | undefined,
): Failure | undefined {
  if (!facts || facts.leashes[leash] !== undefined) return undefined
  return cannotHold(name, leash, Object.keys(facts.leashes))
}

/** Names the leashes that would work, and the reason why this one does not (`why`). */
export function cannotHold(name: string, leash: Leash, others: readonly string[], why = ''): Failure {
  const message = `${name} cannot be restricted to the leash "${leash}"${why}: run it with --leash ${others.join(' or ')}, or use another agent`
  return { kind: 'missing', message }
}

/** Stores the end of a stream of any length. */
export class Tail {
  #text = ''
  #limit: number

  constructor(limit = 16 * 1024) {
    this.#limit = limit
  }

  add(text: string): void {
    this.#text += text
    // The text is cut rarely, so that short texts are not copied with every piece.
    if (this.#text.length > 4 * this.#limit) this.#text = this.#text.slice(-this.#limit)
  }

  get text() {
    return this.#text.slice(-this.#limit)
  }
}

/** The most useful line at the end of an output: the message, not the trace below it. Short enough for a message of ours. */
export const closingLine = (text: string) => short(closingMessage(text).headline)
