import type { Event } from '../../core/talk/entry.ts'
import type { ObjectOf } from '../../core/data/shape.ts'
import type { Resources, RoleAssignment } from '../resources.ts'
import type { ThinkingTurn } from '../thinking-turn.ts'
import { defined } from '../../base/defined.ts'
import { list, oneOf, string } from '../../core/data/shape.ts'
import { answerShape, part } from '../../core/data/json-answer.ts'
import { clipped, firstLine, plural, quoted } from '../prompt-text.ts'
import { note } from '../thinking-turn.ts'

/** The work so far: the reply, and the changes if they are known. */
export type ReviewedWork = { task: string; reply: string; patch?: string; files?: readonly string[] }

const flawFields = {
  severity: oneOf('must', 'should', 'could'),
  head: oneOf('bugs', 'edge cases', 'security'),
  where: string(),
  what: string({ min: 1 }),
  mend: string(),
}

/** A fault that a critic found in the work. */
export type Flaw = ObjectOf<typeof flawFields>

/** The serious flaws that a critic found; `words`: a review that could not be parsed into flaws. */
export type Critique = { by: string; flaws: readonly Flaw[]; words?: string }

const reviewShape = answerShape({ findings: list(part(flawFields)) })

/** The critic is a different agent from the actor, which does not see the flaws of its own work. */
export function criticSeat(
  { readers, assigned }: Pick<Resources, 'readers' | 'assigned'>,
  actor: string,
): RoleAssignment {
  return { role: 'critic', agent: assigned['critic'] ?? readers.find((name) => name !== actor) ?? readers[0]! }
}

export async function* askCritic(work: ReviewedWork, thinking: ThinkingTurn): AsyncGenerator<Event, Critique> {
  yield thinking.phase('looking for bugs, edge cases and security problems')
  const actor = thinking.actor ?? ''
  const critic = criticSeat(thinking.resources, actor)
  const answer = yield* thinking.askFor(critic, criticPrompt(work, thinking), reviewShape)
  const { by, words } = answer
  if (thinking.over) return { by, flaws: [] }
  const who = by === actor ? `${by} itself (no other agent is available)` : by
  if (answer.ok) {
    const flaws = answer.value.findings
    yield note(`${who} looked for bugs, edge cases and security problems: ${flawsLine(flaws)}`)
    // Matters of taste are left out of the list to fix.
    return { by, flaws: flaws.filter(({ severity }) => severity !== 'could') }
  }
  yield note(
    words === undefined ? `no review: ${firstLine(answer.why)}` : `${who} wrote a free-form review, which is passed on`,
  )
  return defined({ by, flaws: [], words })
}

const mostNamed = 4

function flawsLine(flaws: readonly Flaw[]): string {
  if (flaws.length === 0) return 'nothing found'
  const lines = flaws
    .slice(0, mostNamed)
    .map(({ severity, where, what }) => clipped(`${severity}: ${where} ${what}`.replaceAll('\n', ' '), 160))
  const more = flaws.length > mostNamed ? [`and ${flaws.length - mostNamed} more`] : []
  return `${plural(flaws.length, 'finding')}: ${[...lines, ...more].join('; ')}`
}

const longest = 24_000

function criticPrompt({ task, reply, patch, files }: ReviewedWork, { actor, resources }: ThinkingTurn): string {
  const changes =
    patch === undefined
      ? 'What changed is not recorded: find it in the files.'
      : files?.length === 0
        ? 'No file was changed: the reply is the work.'
        : quoted('changes', clipped(patch, longest))
  return [
    'You review work before somebody relies on it. Read the files around it, not only what changed; change nothing.',
    quoted('task', task),
    resources.machine.description,
    quoted('reply', clipped(reply, longest), actor),
    changes,
    'Look under three heads. "bugs": what does not do what the task asks, or breaks what worked. "edge cases": empty, huge, missing, twice, at the same time, interrupted halfway, run again, another locale or time zone. "security": what an attacker or a careless person can reach, leak, inject, lose or lock out.',
    '"findings": each with "severity" ("must": wrong or dangerous as it is; "should": it will hurt in a case that happens; "could": a matter of taste), "head", "where" (file:line), "what" (the case, and what goes wrong in it), "mend" (the smallest change that fixes it). Report only what you can show: an empty list is a good answer, and a wrong finding costs more than a missed one.',
  ].join('\n\n')
}

/** A critique in the form for the actor. */
export function refinePrompt({ by, flaws, words }: Critique): string {
  return [
    'Another agent reviewed your work. Its findings are claims, not orders: check whether each one is true.',
    ...(words === undefined ? flaws.map(flawText) : [quoted('review', clipped(words, longest), by)]),
    'Fix the findings that are true, with the smallest change; leave those that are wrong, and say why they are wrong. Then answer the person so that it can be read without what was said before: what you made, what the review changed, what you left and why.',
  ].join('\n\n')
}

export function flawText({ severity, head, where, what, mend }: Flaw): string {
  return quoted(
    'finding',
    `${severity} · ${head} · ${where}\n${clipped(what, 2_000)}\nto fix it: ${clipped(mend, 1_000)}`,
  )
}
