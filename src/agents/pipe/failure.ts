import type { Ended, Profile } from '../../core/work/profile.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Leash } from '../../core/work/agent.ts'
import { resetTime } from '../../core/talk/reset.ts'
import { lastLine } from './tail.ts'

/** A full disk has a quota too, and no provider gives it back. */
const quotaWords = /(?<!\bdisk )\bquota\b|\busage limit|\brate[ -]?limit|\b429\b|\bRESOURCE_EXHAUSTED\b/i
const overflowWords =
  /\b(context|prompt|input)\b.{0,40}\btoo (long|large|big)\b|\bcontext[ _-]?(length|window)\b.{0,40}\b(exceed|limit|full)|\bexceeds?\b.{0,40}\bcontext\b|\bmaximum context\b/i

/** What the end of a command without a profile says: only the last line of its error channel counts, and only when it failed. */
export function plainFailure(ended: Ended): Failure | undefined {
  if (ended.code === 0) return undefined
  const line = lastLine(ended.err)
  if (quotaWords.test(line)) {
    const retryAt = resetTime(line, ended.now)
    return { kind: 'quota', message: line, ...(retryAt === undefined ? {} : { retryAt }) }
  }
  if (overflowWords.test(line)) return { kind: 'overflow', message: line }
  return undefined
}

/** What a failed run means, the profile's knowledge first. */
export function failureOf(name: string, ended: Ended, profile: Profile | undefined): Failure | undefined {
  const known = profile ? profile.failure(ended) : plainFailure(ended)
  if (known) return known
  if (ended.code === 0) return undefined
  if (ended.code === 127 || ended.code === 126)
    return missing(name, lastLine(ended.err) || `exit code ${ended.code}`, profile)
  const how = ended.code === undefined ? `was ended by ${ended.signal}` : `failed with exit code ${ended.code}`
  const words = lastLine(ended.err) || lastLine(ended.out)
  return { kind: 'crash', message: `${name} ${how}${words ? `: ${words}` : ' and said nothing'}` }
}

export function missing(name: string, why: string, profile: Profile | undefined): Failure {
  const next = profile ? `install it with: ${profile.install}` : 'check its command in the settings'
  return { kind: 'missing', message: `${name} could not be run (${why}); ${next}` }
}

/** Why a CLI is not started at all: it would do more than its leash allows. */
export function unheld(name: string, leash: Leash, profile: Pick<Profile, 'leashes'> | undefined): Failure | undefined {
  if (!profile || profile.leashes[leash] !== undefined) return undefined
  const held = Object.keys(profile.leashes).join(' or ')
  const message = `${name} cannot be held to the leash "${leash}": run it with --leash ${held}, or leave it out`
  return { kind: 'missing', message }
}
