import type { Ended, Profile } from '../core/work/profile.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Leash } from '../core/work/agent.ts'
import { defined } from '../base/defined.ts'
import { resetTime } from '../core/talk/reset-time.ts'

/** The failure that a finished process means, if any; the profile's own knowledge comes first. */
export function processFailure(name: string, ended: Ended, profile: Profile | undefined): Failure | undefined {
  const known = profile ? profile.failure(ended) : plainFailure(ended)
  if (known) return known
  if (ended.code === 0) return undefined
  if (ended.code === 127 || ended.code === 126)
    return missingProgram(name, lastLine(ended.err) || `exit code ${ended.code}`, profile)
  const how = ended.code === undefined ? `was ended by ${ended.signal}` : `failed with exit code ${ended.code}`
  const words = lastLine(ended.err) || lastLine(ended.out)
  return { kind: 'crash', message: `${name} ${how}${words ? `: ${words}` : ' and said nothing'}` }
}

/** Leaves out "disk quota": no provider gives that one back. */
const quotaWords = /(?<!\bdisk )\bquota\b|\busage limit|\brate[ -]?limit|\b429\b|\bRESOURCE_EXHAUSTED\b/i
const overflowWords =
  /\b(context|prompt|input)\b.{0,40}\btoo (long|large|big)\b|\bcontext[ _-]?(length|window)\b.{0,40}\b(exceed|limit|full)|\bexceeds?\b.{0,40}\bcontext\b|\bmaximum context\b/i

/** The failure of a command without a profile, read from the last line of stderr alone, and only when it failed. */
export function plainFailure(ended: Ended): Failure | undefined {
  if (ended.code === 0) return undefined
  const line = lastLine(ended.err)
  if (quotaWords.test(line))
    return defined<Failure>({ kind: 'quota', message: line, retryAt: resetTime(line, ended.now) })
  if (overflowWords.test(line)) return { kind: 'overflow', message: line }
  return undefined
}

/** The failure of a program that is not installed or may not be run. */
export function missingProgram(name: string, why: string, profile: Profile | undefined): Failure {
  const next = profile ? `install it with: ${profile.install}` : 'check its command in the settings'
  return { kind: 'missing', message: `${name} could not be run (${why}); ${next}` }
}

/** The failure of a CLI that is not started, because it would do more than its leash allows. */
export function leashFailure(
  name: string,
  leash: Leash,
  facts: Pick<Profile, 'leashes'> | undefined,
): Failure | undefined {
  if (!facts || facts.leashes[leash] !== undefined) return undefined
  return cannotHold(name, leash, Object.keys(facts.leashes))
}

/** Names the leashes that would work, and `why` this one does not. */
export function cannotHold(name: string, leash: Leash, others: readonly string[], why = ''): Failure {
  const message = `${name} cannot be held to the leash "${leash}"${why}: run it with --leash ${others.join(' or ')}, or leave it out`
  return { kind: 'missing', message }
}

/** The end of a stream, however long the stream was. */
export class Tail {
  #text = ''
  #limit: number

  constructor(limit = 16 * 1024) {
    this.#limit = limit
  }

  add(text: string): void {
    this.#text += text
    // Cut seldom, so that a short text is not copied with every word.
    if (this.#text.length > 4 * this.#limit) this.#text = this.#text.slice(-this.#limit)
  }

  get text() {
    return this.#text.slice(-this.#limit)
  }
}

/** The last line of a text, short enough for a message. */
export function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1)!.trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}
