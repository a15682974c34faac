import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { openData } from './data.ts'
import { found } from './finding.ts'
import { delicate, destroys, questions } from './signs.ts'

/** What must be right the first time. */
export function safetyCritical({ text, core }: Request): Finding | undefined {
  if (destroys(text)) return found('reflect', 0.9, 'it cannot be taken back')
  if (!delicate(text)) return undefined
  // What only reads and reckons breaks nothing.
  return questions(core) || openData(core) ? undefined : found('reflect', 0.8, 'it must be right')
}
