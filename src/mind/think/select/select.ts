import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { dataProcessing } from './data.ts'
import { debugging } from './debugging.ts'
import { largeFeature } from './feature.ts'
import { found } from './finding.ts'
import { isForeign } from './language.ts'
import { requestOf } from './request.ts'
import { safetyCritical } from './safety.ts'
import { explores, open, outcome, questions, reshapesCode, wishes, works } from './signs.ts'
import { trivial } from './trivial.ts'

/** The seed's order; the first that finds something decides. What is open shows it in its words: the rest of the work is ordinary. */
const order = [trivial, debugging, largeFeature, safetyCritical, dataProcessing, exploring, ordinary]

/** Below this the words alone do not decide. */
const threshold = 0.45

export type Selection = Finding & { ambiguous: boolean }

/** How to think about a request, by its words alone. */
export function select(text: string): Selection {
  const request = requestOf(text)
  const finding = isForeign(request) ? unread : firstOf(request)
  return { ...finding, ambiguous: finding.confidence < threshold }
}

function firstOf(request: Request): Finding {
  for (const rule of order) {
    const finding = rule(request)
    if (finding) return finding
  }
  return request.words.length > 3 ? unsure : unclear
}

function exploring({ text, core }: Request): Finding | undefined {
  if (open(text) || (explores(core) && !reshapesCode(core))) return found('consensus', 0.8, 'more than one way')
  return wishes(text) || (outcome(core) && !questions(core))
    ? found('consensus', 0.7, 'an outcome, by any means')
    : undefined
}

/** Most of what a coder asks for is none of these: one agent does it in one turn. */
function ordinary({ core }: Request): Finding | undefined {
  return works(core) || reshapesCode(core) || questions(core) ? found('direct', 0.6, 'one piece of work') : undefined
}

/** The seed's default, and not sure enough to spend five advisors on. */
const unsure = found('consensus', 0.4, 'open how')

const unread = found('direct', 0, 'not in words that are known')
const unclear = found('direct', 0.2, 'too little to tell')
