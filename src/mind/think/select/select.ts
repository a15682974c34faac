import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { dataProcessing } from './data.ts'
import { debugging } from './debugging.ts'
import { largeFeature } from './feature.ts'
import { found } from './finding.ts'
import { isForeign } from './language.ts'
import { requestOf } from './request.ts'
import { safetyCritical } from './safety.ts'
import { changes, explores, makes, open, questions, removes } from './signs.ts'
import { trivial } from './trivial.ts'

/** The seed's order; the first that finds something decides. */
const order = [trivial, debugging, largeFeature, safetyCritical, dataProcessing, exploring]

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
  return request.words.length > 3 ? found('consensus', 0.5, 'open how') : unclear
}

function exploring({ text, core }: Request): Finding | undefined {
  if (open(text) || explores(core)) return found('consensus', 0.8, 'more than one way')
  return makes(core) || changes(core) || removes(core) || questions(core)
    ? found('consensus', 0.6, 'open how')
    : undefined
}

/** Where nothing else is known, what costs nothing extra is right. */
const unread = found('direct', 0, 'not in words that are known')
const unclear = found('direct', 0.2, 'too little to tell')
