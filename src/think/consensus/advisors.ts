import type { Event } from '../../core/talk/entry.ts'
import type { Parser, Shape } from '../../core/data/shape.ts'
import type { FailedApproach } from '../plan-act-check.ts'
import type { Resources, RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import { callAfter } from '../../base/time/clock.ts'
import { merge } from '../../base/merge.ts'
import { roleLabel } from '../../core/talk/framework.ts'
import { boolean, list, oneOf, optional, string } from '../../core/data/shape.ts'
import { answerShape, part } from '../../core/data/json-answer.ts'
import { clipped, firstLine, quoted } from '../prompt-text.ts'
import { assign } from '../resources.ts'
import { note } from '../thinking-turn.ts'

/** One advisor's answer: its proposals, and its text for the chair; `prose`: the answer could only be read as text. */
export type Advice = RoleAssignment & { by: string; proposals: Proposal[]; words: string; prose?: true }

/** The question for a council: the task, and the approaches that were tried and failed. */
export type CouncilQuestion = { task: string; failed: readonly FailedApproach[] }

export const questionTexts = ({ task, failed }: CouncilQuestion): string[] => [
  quoted('request', task),
  ...(failed.length > 0
    ? [
        'These approaches were tried and failed. Propose none of them again, and nothing that fails for the same reason:',
        ...failed.map(({ approach, evidence }) => quoted('failed', `${approach.name}\n${clipped(evidence, 2_000)}`)),
      ]
    : []),
]

/** An advisor that gave no advice. */
type NoAdvice = RoleAssignment & { why: string }

/** The answers of all advisors, in the order of their roles. */
export type AdviceRound = { advice: Advice[]; silent: NoAdvice[] }

/** Once most advisors have answered, the others have this much time left. */
const graceMs = 60_000

/** The five advisors, each with the agent that fills its role. */
export const advisorSeats = (resources: Pick<Resources, 'readers' | 'assigned'>): RoleAssignment[] =>
  assign(
    advisors.map(({ role }) => role),
    resources,
  )

/** Asks the five advisors at the same time; a slow one does not delay the others. */
export async function* askAdvisors(asked: CouncilQuestion, thinking: ThinkingTurn): AsyncGenerator<Event, AdviceRound> {
  const { turn, resources } = thinking
  const seats = advisorSeats(resources)
  const heard = new Map<RoleAssignment, Advice | NoAdvice>()
  const enough = new AbortController()
  const settled = new AbortController()
  let closing = false
  const hear = (seat: RoleAssignment, answer: Advice | NoAdvice) => {
    heard.set(seat, answer)
    if (thinking.over) enough.abort()
    const awaited = seats.length - heard.size
    if (closing || roundOf(seats, heard).advice.length <= awaited) return
    closing = true
    // The timer need not be awaited: it only aborts consultations that are still running.
    callAfter(turn.clock, graceMs, settled.signal, () => enough.abort())
  }
  yield thinking.phase(`asking ${seats.length} advisors`)
  try {
    yield* merge(
      seats.map(async function* (seat, at): AsyncGenerator<Event, void> {
        hear(seat, yield* askAdvisor(advisors[at]!, seat, asked, enough.signal, thinking))
        yield thinking.phase(`${heard.size} of ${seats.length} advisors are done`)
      }),
    )
  } finally {
    settled.abort()
  }
  const round = roundOf(seats, heard)
  if (!thinking.over) yield note(roundNote(round))
  return round
}

function roundOf(seats: readonly RoleAssignment[], heard: ReadonlyMap<RoleAssignment, Advice | NoAdvice>): AdviceRound {
  const all = seats.flatMap((seat) => heard.get(seat) ?? [])
  return {
    advice: all.flatMap((one) => ('by' in one ? one : [])),
    silent: all.flatMap((one) => ('by' in one ? [] : one)),
  }
}

async function* askAdvisor(
  { asked, shape, proposals }: Advisor,
  seat: RoleAssignment,
  about: CouncilQuestion,
  enough: AbortSignal,
  thinking: ThinkingTurn,
): AsyncGenerator<Event, Advice | NoAdvice> {
  // An unreadable answer is not sent back: the chair can read plain text, and the others are waiting.
  const answer = yield* thinking.askFor(
    seat,
    advicePrompt(seat.role, asked, about, thinking),
    shape,
    0,
    undefined,
    enough,
  )
  if (answer.ok)
    return { ...seat, by: answer.by, proposals: proposals(answer.value), words: JSON.stringify(answer.value) }
  if (answer.words?.trim()) return { ...seat, by: answer.by, proposals: [], words: answer.words, prose: true }
  return { ...seat, why: enough.aborted ? 'it took too long' : answer.why }
}

function advicePrompt(role: string, asked: string, about: CouncilQuestion, { resources }: ThinkingTurn): string {
  return [
    'Five advisors are asked at the same time how a request is best met; then a chair weighs what they say, and another agent does the work. You are one of the five. Do not do the work: change nothing, and look only as far as your answer depends on it. The chair knows only what you write, and waits two minutes for it.',
    ...questionTexts(about),
    resources.machine.description,
    `You are the ${role}. ${asked}`,
    approachInstructions,
  ].join('\n\n')
}

/** One line that says which advisors answered, and which did not. */
function roundNote({ advice, silent }: AdviceRound): string {
  const who = ({ role, agent, by, prose }: Advice) =>
    `${roleLabel(role)} (${by}${by === agent ? '' : ` for ${agent}`}${prose ? ', unstructured' : ''})`
  return [
    ...(advice.length > 0 ? [`advice: ${advice.map(who).join(', ')}`] : []),
    ...(silent.length > 0 ? [`no advice: ${silentWords(silent)}`] : []),
    ...(advice.length === 0 ? ['answering directly'] : []),
  ].join('; ')
}

/** An agent that failed in several roles is named once, with its roles. */
function silentWords(silent: readonly NoAdvice[]): string {
  const roles = new Map<string, string[]>()
  for (const { role, agent, why } of silent) {
    const fault = `${agent}: ${firstLine(why, 120)}`
    roles.set(fault, [...(roles.get(fault) ?? []), roleLabel(role)])
  }
  return [...roles]
    .map(([fault, those]) => `${those.join(', ').replace(/, (?=[^,]*$)/, ' and ')} (${fault})`)
    .join(', ')
}

/** An approach in the form in which an advisor proposes it. */
export type Proposal = {
  name: string
  how: string
  needs: readonly string[]
  /** The number of votes for the proposal, used if the majority decides. */
  weight: number
  /** Why the proposal does not work on this machine, if an advisor says so. */
  against?: string
  /** The script for the approach, if one was drafted. */
  code?: string
}

/** The most approaches that are read, because each is compared with every other one. */
const mostNamed = 16

/** A list of which only the first items are read; a longer list is not an error. */
export function few<T>(item: Shape<T>, min: number): Shape<T[]> {
  const all = list(item, min)
  return { ...all, read: (value, at) => all.read(value, at).slice(0, mostNamed) }
}

/** The fields of an approach, for every advisor and the chair. */
export const approachFields = {
  name: string({ min: 1 }),
  how: string(),
  needs: optional(few(string(), 0)),
}

/** How to describe an approach, so that equal approaches of two advisors can be recognised. */
export const approachInstructions = `An approach has a "name": the tool or technique that does the work, in at most four words ("pandoc", "Express with SQLite"); "how": the steps, concrete enough that another agent can follow them alone; and "needs": what must be there first, one short string each:
- a program by the name one types: "pandoc", "docker", "python>=3.10";
- a package still to be fetched, with where from: "pip:python-docx", "npm:express", "apt:texlive"; not what the project has already;
- "network", "root", "linux", "macos" or "windows", if it cannot go without.`

/** The words of a name, without case and punctuation. */
const wordsIn = (name: string): readonly string[] => name.toLowerCase().match(/[\p{L}\p{N}+#]+/gu) ?? []

export const approachKey = (name: string) => wordsIn(name).join(' ')

/** Whether two names mean the same approach, for example "LibreOffice" and "LibreOffice, headless". */
export function isSameApproach(a: string, b: string): boolean {
  const [fewer, more] = [wordsIn(a), wordsIn(b)].sort((x, y) => x.length - y.length)
  return fewer!.length > 0 && fewer!.every((word) => more!.includes(word))
}

/** One point of view on a request: the question to the advisor, the shape of its answer, and the proposals in it. */
type Advisor<T = unknown> = {
  role: string
  asked: string
  shape: Parser<T>
  proposals(answer: T): Proposal[]
}

const advisor = <T>(row: Advisor<T>) => row as Advisor

const approach = part(approachFields)

const proposal = (
  { name, how, needs = [] }: { name: string; how: string; needs?: string[] },
  weight: number,
): Proposal => ({ name, how, needs, weight })

/** Each advisor is asked for the one aspect that the others leave out. */
const advisors: readonly Advisor[] = [
  advisor({
    role: 'enumerator',
    asked:
      'List every approach worth naming, two to eight: the obvious one, the one that the project already has half of, the one that needs nothing new, the one that a specialist would take, and the one that is easily overlooked. Two are different when something else does the work, not when a flag differs. Do not rank them and do not hold back what seems unlikely: others judge.',
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
      'Take the approaches that come to mind first for this and decide for each whether it works on this machine as it is. Go by the capabilities above and by what you see in the project (manifests, lock files, installed packages); look, do not guess. "reason" names the very thing that is there or missing ("pdflatex is not installed, and apt needs root"), never an opinion.',
    shape: answerShape({ approaches: few(part({ ...approachFields, viable: boolean(), reason: string() }), 1) }),
    proposals: ({ approaches }) =>
      approaches.map(({ viable, reason, ...one }) => ({ ...proposal(one, 1), against: viable ? undefined : reason })),
  }),
  advisor({
    role: 'fallback chain',
    asked:
      'Rank the approaches that could do this, two to five, best first: by how surely the first try gives a right result, then by how fast. Each one after the first is for the case that the one before it failed, so it must not fail for the same reason. "fails" says how the approach goes wrong when it does, and how one would notice.',
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
