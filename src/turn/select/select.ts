import type { RuleMatch } from './framework-rules.ts'
import type { Request } from './request-text.ts'
import { englishRules, foreignRules } from './framework-rules.ts'
import { opens, isForeign, requestOf, sign } from './request-text.ts'

/**
 * Names the framework that the words of a request clearly call for; undefined if there is any doubt. `followsUp`: other messages came
 * before, so a short request may depend on them.
 */
export function select(text: string, followsUp = false): RuleMatch | undefined {
  const request = requestOf(text)
  const rules = isForeign(request) ? foreignRules : englishRules
  for (const rule of rules) {
    const found = rule(request)
    if (!found) continue
    // An action that cannot be undone needs caution, no matter which thing "it" means.
    return followsUp && isFollowUp(request) && found.framework !== 'reflect' && found.framework !== 'direct'
      ? undefined
      : found
  }
  return undefined
}

/** A longer request can be understood alone. */
const longestFollowUp = 8

/** Words that refer to earlier text; "this app" names its own object, "this" alone does not. */
const refers = sign(
  'it|its|them|they|again|instead|too|as well|(do |try )?the same|another one|the (others?|rest|remaining ones)',
  'the (first|second|third|fourth|last|next|previous|former|latter|other|old|new) (one|ones|option|approach|way|idea|version)',
  '(this|that|these|those)(?= ( *[.,;:!?]| *$|(and|as|at|better|by|did|does|do|down|fail\\w*|faster|first|for|from|in|into|is|are|was|were|now|off|on|out|so|to|too|up|with|work\\w*) ))',
)
const wonders = opens(
  '(and|but|so|why|why not|how|how so|how come|really|what else|anything else|what now|what then) [.?!]',
)

/** Whether a short request only makes sense together with the conversation before. */
const isFollowUp = ({ text, words }: Request) => words.length <= longestFollowUp && (refers(text) || wonders(text))
