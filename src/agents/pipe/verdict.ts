import type { Ended, Profile } from '../../core/work/profile.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import { failed } from '../../core/talk/outcome.ts'
import { failureOf } from './failure.ts'
import { lastLine } from './tail.ts'

/** What a run that nobody stopped came to: by its own account, the way it ended, and its last words. */
export function verdict(
  name: string,
  account: Outcome | undefined,
  typed: boolean,
  ended: Ended,
  profile: Profile | undefined,
): Outcome {
  const answered = account?.ok && account.text !== ''
  if (typed && answered) return account
  if (account && !account.ok && account.failure.kind !== 'crash') return account
  const failure = failureOf(name, ended, profile)
  // A dialect's own words for a crash say more than an exit code.
  if (failure && !(failure.kind === 'crash' && account && !account.ok)) return { ok: false, failure }
  if (account && !account.ok) return account
  if (answered) return account
  if (account?.ok && account.denials?.length)
    return failed('denied', `${name} was not allowed: ${account.denials.join(', ')}`)
  const words = lastLine(ended.err)
  return failed('crash', `${name} gave an empty answer${words ? ` (its last words: ${words})` : ''}`)
}
