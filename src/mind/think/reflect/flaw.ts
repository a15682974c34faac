import type { ObjectOf } from '../../../core/work/shape.ts'
import { list, oneOf, string } from '../../../core/work/shape.ts'
import { answerShape, part } from '../answer.ts'
import { clipped, quoted } from '../words.ts'

const fields = {
  severity: oneOf('must', 'should', 'could'),
  head: oneOf('bugs', 'edge cases', 'security'),
  where: string(),
  what: string({ min: 1 }),
  mend: string(),
}

/** Something that a critic holds against the work. */
export type Flaw = ObjectOf<typeof fields>

/** All that a critic said; its own words where they could not be read as that. */
export type Critique = { by: string; flaws: readonly Flaw[]; words?: string }

export const review = answerShape({ findings: list(part(fields)) })

/** What is not worth a second look is only told. */
export const isGrave = ({ severity }: Flaw) => severity !== 'could'

export const flawLine = ({ severity, where, what }: Flaw) =>
  clipped(`${severity}: ${where} ${what}`.replaceAll('\n', ' '), 160)

export function flawWords({ severity, head, where, what, mend }: Flaw): string {
  return quoted(
    'finding',
    `${severity} · ${head} · ${where}\n${clipped(what, 2_000)}\nto mend it: ${clipped(mend, 1_000)}`,
  )
}
