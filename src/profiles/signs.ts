import type { Failure, FailureKind } from '../core/talk/outcome.ts'
import type { Ended } from '../core/work/profile.ts'
import { resetTime } from '../core/talk/reset.ts'

/** A failure as one CLI words it, beside the real message the pattern was made for; `local` when its times are this machine's. */
export type Sign = { kind: FailureKind; says: RegExp; said: string; local?: true }

/** Only the last lines of a failed run are read, so an answer that talks about quotas is no quota. */
const lastLines = 12

export function readSigns(signs: readonly Sign[], ended: Ended): Failure | undefined {
  for (const channel of [ended.err, ended.out]) {
    const lines = channel
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-lastLines)
    for (const line of lines.reverse()) {
      const sign = signs.find(({ says }) => says.test(line))
      if (sign) return failureOf(sign, line.trim(), ended.now)
    }
  }
  return undefined
}

/** What a typed error event of a CLI says, by the same signs. */
export function readMessage(signs: readonly Sign[], message: string, now: number): Failure | undefined {
  const sign = signs.find(({ says }) => says.test(message))
  return sign && failureOf(sign, message, now)
}

function failureOf({ kind, local }: Sign, message: string, now: number): Failure {
  const short = message.length > 500 ? `${message.slice(0, 500)}…` : message
  const zone = local ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
  const retryAt = kind === 'quota' || kind === 'busy' ? resetTime(message, now, zone) : undefined
  return retryAt === undefined ? { kind, message: short } : { kind, message: short, retryAt }
}
