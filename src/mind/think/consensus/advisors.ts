import type { Parser } from '../../../core/work/shape.ts'
import type { Proposal } from './proposal.ts'
import { boolean, oneOf, optional, string } from '../../../core/work/shape.ts'
import { answerShape, part } from '../answer.ts'
import { approachFields, few } from './proposal.ts'

/** One point of view on a request: what it is asked, what it answers, and what that proposes. */
export type Advisor<T = unknown> = {
  role: string
  asked: string
  shape: Parser<T>
  proposals(answer: T): Proposal[]
}

const advisor = <T>(row: Advisor<T>) => row as Advisor

const approach = part(approachFields)

type Said = { name: string; how: string; needs?: string[] }
const proposal = ({ name, how, needs = [] }: Said, weight: number): Proposal => ({ name, how, needs, weight })

/** The five. Each is asked for the one thing that the others leave out. */
export const advisors: readonly Advisor[] = [
  advisor({
    role: 'enumerator',
    asked:
      'List every approach worth naming, two to eight: the obvious one, the one that the project already has half of, the one that needs nothing new, the one that a specialist would take, and the one nobody thinks of. Two are different when something else does the work, not when a flag differs. Do not rank them and do not hold back what seems unlikely: others judge.',
    shape: answerShape({ approaches: few(approach, 1) }),
    proposals: ({ approaches }) => approaches.map((one) => proposal(one, 1)),
  }),
  advisor({
    role: 'pattern matcher',
    asked:
      'Name the one approach that people who do this for a living have settled on, and in "rationale" what they learned the hard way that made them settle: what it gets right where its rivals fail, and when it would be the wrong one. What this project does already is a convention too, and outweighs fashion: name the file that shows it.',
    shape: answerShape({ approach, rationale: string() }),
    proposals: ({ approach: one }) => [proposal(one, 2)],
  }),
  advisor({
    role: 'dependency scanner',
    asked:
      'Take the approaches that anybody would think of for this and decide for each whether it works on this machine as it is. Go by the capabilities above and by what you see in the project (manifests, lock files, installed packages); look, do not guess. "reason" names the very thing that is there or missing ("pdflatex is not installed, and apt needs root"), never an opinion.',
    shape: answerShape({ approaches: few(part({ ...approachFields, viable: boolean(), reason: string() }), 1) }),
    proposals: ({ approaches }) =>
      approaches.map(({ viable, reason, ...one }) => ({ ...proposal(one, 1), ...(viable ? {} : { against: reason }) })),
  }),
  advisor({
    role: 'fallback chain',
    asked:
      'Rank the approaches that could do this, two to five, best first: by how surely the first try gives a right result, then by how fast. Each one after the first stands there for the case that the one before it failed, so it must not fail for the same reason. "fails" says how it goes wrong when it does, and how one would notice.',
    shape: answerShape({ approaches: few(part({ ...approachFields, fails: optional(string()) }), 1) }),
    proposals: ({ approaches }) => approaches.map((one, at) => proposal(one, Math.max(1, 3 - at))),
  }),
  advisor({
    role: 'code generator',
    asked:
      'Decide whether a short script would do this faster or more surely than the tools that exist. If so, write it: whole, ready to run, its standard library first, inputs as arguments, a non-zero exit and a clear message when something is wrong, at most eighty lines. If it would only wrap one command, or is a program that has to live on, "script" is null. "why" says why, either way.',
    shape: answerShape({
      script: optional(
        part({ ...approachFields, language: oneOf('python', 'node', 'bash'), code: string({ min: 1 }) }),
      ),
      why: string(),
    }),
    proposals: ({ script }) =>
      script ? [{ ...proposal(script, 1), code: `\`\`\`${script.language}\n${script.code}\n\`\`\`` }] : [],
  }),
]

export const roles = advisors.map(({ role }) => role)
