import type { Request } from './request.ts'
import { opens, sign } from './request.ts'

/** Longer ones say what they are about themselves. */
const mostWords = 8

/** What stands for something that was said before; "this app" names a thing of its own, "this" alone does not. */
const refers = sign(
  'it|its|them|they|again|instead|too|as well|(do |try )?the same|another one|the (others?|rest|remaining ones)',
  'the (first|second|third|fourth|last|next|previous|former|latter|other|old|new) (one|ones|option|approach|way|idea|version)',
  '(this|that|these|those)(?= ( *[.,;:!?]| *$|(and|as|at|better|by|did|does|do|down|fail\\w*|faster|first|for|from|in|into|is|are|was|were|now|off|on|out|so|to|too|up|with|work\\w*) ))',
)
const wonders = opens(
  '(and|but|so|why|why not|how|how so|how come|really|what else|anything else|what now|what then) [.?!]',
)

/** A few words that only mean something after others: whoever has the talk before them needs no framework for them. */
export const goesOn = ({ text, words }: Request) => words.length <= mostWords && (refers(text) || wonders(text))
