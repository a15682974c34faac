import type { RuleMatch } from './framework-rules.ts'
import type { Request } from './request-text.ts'
import {
  dataProcessing,
  debugging,
  exploring,
  largeFeature,
  match,
  ordinary,
  safetyCritical,
  trivial,
} from './framework-rules.ts'
import { isForeign, requestOf } from './request-text.ts'

/** The first rule that matches decides. */
const rules = [trivial, debugging, largeFeature, safetyCritical, dataProcessing, exploring, ordinary]

/** Below this confidence the words alone do not decide. */
const threshold = 0.45

type Selection = RuleMatch & { ambiguous: boolean }

/** Chooses a framework for a request by its words alone. */
export function select(text: string): Selection {
  const request = requestOf(text)
  const found = isForeign(request) ? foreign : firstMatch(request)
  return { ...found, ambiguous: found.confidence < threshold }
}

function firstMatch(request: Request): RuleMatch {
  for (const rule of rules) {
    const found = rule(request)
    if (found) return found
  }
  return request.words.length > 3 ? unsure : tooShort
}

/** Consensus is the default, but this is not sure enough to spend five advisors on. */
const unsure = match('consensus', 0.4, 'open-ended')

const foreign = match('direct', 0, 'in a language that is not known')
const tooShort = match('direct', 0.2, 'too little to tell')
