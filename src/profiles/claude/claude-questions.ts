import type { Step } from '../../core/profile/profile.ts'
import type { Option, Shown } from '../../core/talk/question.ts'
import type { Loose } from '../shared/jsonl.ts'
import { askChoices } from '../shared/choice-cards.ts'
import { idOf, listOf, loose, rowOf, textOf } from '../shared/jsonl.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The tool with which Claude Code asks a person; an unanswered question is not a denial. */
export const questionTool = 'AskUserQuestion'

/** The tool with which Claude Code asks to leave plan mode. */
export const planTool = 'ExitPlanMode'

/** The questions of a request in plan mode: only choices go to the person, because nothing else is allowed in it. */
export function planQuestions(event: Loose): Step[] {
  const { subtype, tool_name } = loose(event.request)
  if (subtype !== 'can_use_tool' || tool_name === questionTool) return claudeQuestions(event)
  return [{ type: 'send', text: deny(idOf(event.request_id), 'This is not allowed in plan mode. Plan without it.') }]
}

/** The answer to a request to leave plan mode: the turn ends, and the person's next prompt says what becomes of the plan. */
export const stopsAtPlan = (id: string) =>
  answer(id, { behavior: 'deny', message: 'The person decides about the plan now.', interrupt: true })

/** The questions of a request; a request that we cannot answer is refused, so that Claude Code does not wait for an answer. */
export function claudeQuestions({ request_id, request }: Loose): Step[] {
  const id = idOf(request_id)
  const wish = loose(request)
  if (wish.subtype !== 'can_use_tool') {
    const response = { subtype: 'error', request_id: id, error: `${textOf(wish.subtype)} is not served here` }
    return [{ type: 'send', text: line({ type: 'control_response', response }) }]
  }
  return wish.tool_name === questionTool ? choices(id, loose(wish.input)) : [permission(id, wish)]
}

function permission(id: string, wish: Loose): Step {
  const offers = offersOf(wish.permission_suggestions)
  // The key of "always here" is for a yes that lasts in this project only.
  const here = offers.find(({ update }) => isProjectPlace(update.destination)) ?? offers[0]
  return {
    type: 'ask',
    id,
    question: {
      about: 'permission',
      text: wordsOf(wish),
      from: [],
      free: true,
      shows: shownOf(textOf(wish.tool_name) ?? '', loose(wish.input)),
      options: consentOptions({
        once: { id: 'once', label: 'Yes, once' },
        always: here && optionOf(here),
        no: { id: 'no', label: 'No' },
        others: offers.filter((offer) => offer !== here).map(optionOf),
      }),
    },
    reply(picks) {
      const pick = picks?.[0]
      const offer = offers.find((one) => one.id === pick)
      if (offer) return allow(id, wish.input, [offer.update])
      return pick === 'once' ? allow(id, wish.input) : deny(id, refusal(pick))
    },
  }
}

function refusal(pick: string | undefined): string {
  if (pick === undefined) return 'Nobody was there to say yes. Do it another way, or say what you need and why.'
  return pick === 'no' ? 'The person said no. Do not try it again in this turn.' : pick
}

function choices(id: string, input: Loose): Step[] {
  const questions = listOf(input.questions).map((one) => ({
    key: textOf(one.question) ?? '',
    text: textOf(one.question) ?? '',
    multiple: one.multiSelect === true,
    options: listOf(one.options).map(({ label, description }) => ({
      label: textOf(label) ?? '',
      description: textOf(description) ?? '',
    })),
  }))
  const unanswered = 'Nobody answered. Go on with what is most sensible, or put the question into your answer.'
  if (questions.length === 0) return [{ type: 'send', text: deny(id, unanswered) }]
  return askChoices(id, questions, (answers) => {
    if (!answers) return deny(id, unanswered)
    const said = Object.fromEntries([...answers].map(([question, picks]) => [question, picks.join(', ')]))
    return allow(id, { ...input, answers: said })
  })
}

type Offer = Option & { grants: string; update: Loose }

const optionOf = ({ id, label, grants }: Offer): Option => ({ id, label, grants })

/** How long a rule in each place lasts: the label of its option, and the words after the rule's scope. */
const places: Readonly<Record<string, { label: string; lasts: string }>> = {
  session: { label: 'Yes, until this turn ends', lasts: 'until this turn ends' },
  localSettings: {
    label: 'Yes, always in this project',
    lasts: 'in this project from now on (kept in .claude/settings.local.json)',
  },
  projectSettings: {
    label: 'Yes, always, for everybody in this project',
    lasts: 'for all who work in this project from now on (kept in .claude/settings.json)',
  },
  userSettings: {
    label: 'Yes, always in every project',
    lasts: 'everywhere from now on (kept in ~/.claude/settings.json)',
  },
}

const isProjectPlace = (place: unknown) => place === 'localSettings' || place === 'projectSettings'

/**
 * The first suggestion that can be expressed in a sentence: once for this turn, and once for as long as Claude Code would remember it.
 */
function offersOf(suggestions: unknown): Offer[] {
  for (const suggestion of listOf(suggestions)) {
    const grant = grantOf(suggestion)
    if (grant) return offers(grant, textOf(suggestion.destination) ?? 'session')
  }
  return []
}

function offers({ words, update }: Grant, place: string): Offer[] {
  const offer = (id: string, where: string): Offer => ({
    id,
    label: places[where]!.label,
    grants: `${words}, ${places[where]!.lasts}`,
    update: { ...update, destination: where },
  })
  return [offer('turn', 'session'), ...(place !== 'session' && rowOf(places, place) ? [offer('always', place)] : [])]
}

/** The scope of a suggestion, as a text that names all of it. */
type Grant = { words: string; update: Loose }

function grantOf({ type, behavior, rules, directories, mode }: Loose): Grant | undefined {
  if (type === 'addRules' && behavior === 'allow') {
    const words = listOf(rules).map(ruleWords)
    const plain = listOf(rules).map(({ toolName, ruleContent }) => ({ toolName, ruleContent }))
    if (words.length === 0 || words.includes(undefined)) return undefined
    return { words: words.join(', '), update: { type, rules: plain, behavior } }
  }
  if (type === 'addDirectories' && Array.isArray(directories) && directories.every((path) => typeof path === 'string'))
    return { words: `files below ${directories.join(', ')}`, update: { type, directories } }
  if (type !== 'setMode' || mode !== 'acceptEdits') return undefined
  // The mode for edits allows these commands as well.
  const words = 'every edit in this project, and mkdir, touch, rm, rmdir, mv, cp and sed there'
  return { words, update: { type, mode } }
}

function ruleWords({ toolName, ruleContent }: Loose): string | undefined {
  if (typeof toolName !== 'string') return undefined
  if (ruleContent === undefined) return `every ${toolName}`
  return typeof ruleContent === 'string' ? `${toolName}(${ruleContent})` : undefined
}

function wordsOf({ tool_name, display_name, description, blocked_path, input }: Loose): string {
  const tool = textOf(display_name) ?? textOf(tool_name) ?? 'a tool'
  const what = textOf(description)
  const path = textOf(blocked_path)
  const { replace_all, dangerouslyDisableSandbox } = loose(input)
  return [
    what ? `${tool}: ${what}` : tool,
    ...(path ? [`It reaches ${path}`] : []),
    ...(replace_all === true ? ['It replaces every occurrence of this text'] : []),
    ...(dangerouslyDisableSandbox === true ? ['It runs outside the sandbox'] : []),
  ].join('\n')
}

function shownOf(tool: string, input: Loose): Shown[] {
  const { command, file_path, old_string, new_string, content, plan } = input
  if (typeof command === 'string') return [{ type: 'command', command }]
  const path = textOf(file_path)
  if (path !== undefined && typeof old_string === 'string' && typeof new_string === 'string')
    return [{ type: 'diff', path, before: old_string, after: new_string }]
  if (path !== undefined && typeof content === 'string') return [{ type: 'diff', path, after: content }]
  if (typeof plan === 'string') return [{ type: 'text', text: plan }]
  return Object.keys(input).length === 0 ? [] : [{ type: 'text', text: `${tool} ${JSON.stringify(input, null, 2)}` }]
}

function allow(id: string, updatedInput: unknown, updatedPermissions?: Loose[]): string {
  return answer(id, { behavior: 'allow', updatedInput, updatedPermissions })
}

const deny = (id: string, message: string) => answer(id, { behavior: 'deny', message })

const answer = (request_id: string, response: Loose) =>
  line({ type: 'control_response', response: { subtype: 'success', request_id, response } })

export const line = (message: Loose) => `${JSON.stringify(message)}\n`
