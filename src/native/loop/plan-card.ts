import type { Question } from '../../core/talk/question.ts'
import { defined } from '../../base/defined.ts'
import { tag } from '../../core/talk/transcript.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The question about a plan; free text is the change that the person wants. */
export function planQuestion(plan: string): Question {
  return {
    about: 'choice',
    text: 'Build this plan?',
    from: [],
    free: true,
    shows: [{ type: 'text', text: plan }],
    options: consentOptions({
      once: { id: 'build', label: 'Yes, build it' },
      no: { id: 'drop', label: 'No, drop it' },
      others: [{ id: 'change', label: 'Change it: say what' }],
    }),
    unanswered: 'decide later; nothing is built',
  }
}

/** `wish`: the change, if the person described it at once. */
type PlanAnswer = { then: 'build' } | { then: 'change'; wish?: string } | { then: 'drop' }

/** Interprets the answer; without an answer nothing is built, and the plan stays as it is. */
export function planAnswer(picks: string[] | undefined): PlanAnswer | undefined {
  const [pick, words] = picks ?? []
  if (pick === undefined || pick.trim() === '') return undefined
  if (pick === 'build' || pick === 'drop') return { then: pick }
  if (pick === 'change') return defined<PlanAnswer>({ then: 'change', wish: words?.trim() ? words : undefined })
  return { then: 'change', wish: pick }
}

/** The prompt that builds an approved plan; it contains the plan, because the planning may have been summarised since. */
export function buildPrompt(plan: string): string {
  const asked =
    'Build this plan, which I approved. Keep to it; if the code proves it wrong, do what its goal needs and say so. Run the checks it names.'
  return `${asked}\n\n${tag('plan', '', plan.trim())}`
}
