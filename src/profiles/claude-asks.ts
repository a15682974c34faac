import type { Step } from '../core/screen/profile.ts'
import type { Question, Shown } from '../core/talk/question.ts'
import type { Loose } from './jsonl.ts'
import { askChoices } from './choices.ts'
import { listOf, loose, textOf } from './jsonl.ts'

/** The tool by which it asks a person something; a question left open is nothing that was not allowed. */
export const questionTool = 'AskUserQuestion'

/** What it wants to know before it goes on; what we cannot answer is refused, so that it does not wait for it. */
export function asked({ request_id, request }: Loose): Step[] {
  const id = String(request_id)
  const wish = loose(request)
  if (wish.subtype !== 'can_use_tool') {
    const response = { subtype: 'error', request_id: id, error: `${textOf(wish.subtype)} is not served here` }
    return [{ type: 'send', text: line({ type: 'control_response', response }) }]
  }
  return wish.tool_name === questionTool ? choices(id, loose(wish.input)) : [permission(id, wish)]
}

function permission(id: string, wish: Loose): Step {
  const offers = offersOf(wish.permission_suggestions)
  return {
    type: 'ask',
    id,
    question: {
      about: 'permission',
      text: wordsOf(wish),
      from: [],
      free: true,
      shows: shownOf(textOf(wish.tool_name) ?? '', loose(wish.input)),
      options: [
        { id: 'once', label: 'Yes, once' },
        ...offers.map(({ id, label, grants }) => ({ id, label, grants })),
        { id: 'no', label: 'No' },
      ],
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

type Offer = Question['options'][number] & { grants: string; update: Loose }

/** How long a rule of each place holds. */
const places: Readonly<Record<string, string>> = {
  session: 'until this turn ends',
  localSettings: 'in this project from now on (kept in .claude/settings.local.json)',
  projectSettings: 'for all who work in this project from now on (kept in .claude/settings.json)',
  userSettings: 'everywhere from now on (kept in ~/.claude/settings.json)',
}

/** The first thing it suggests that can be said in words: for this turn, and for as long as it would keep it. */
function offersOf(suggestions: unknown): Offer[] {
  const update = listOf(suggestions).find((one) => grantsOf(one) !== undefined)
  if (!update) return []
  const place = textOf(update.destination) ?? 'session'
  const offer = (id: string, label: string, where: string): Offer => ({
    id,
    label,
    grants: `${grantsOf(update)}, ${places[where]}`,
    update: { ...update, destination: where },
  })
  return [
    offer('turn', 'Yes, until this turn ends', 'session'),
    ...(place !== 'session' && places[place] ? [offer('always', 'Yes, always', place)] : []),
  ]
}

function grantsOf(update: Loose): string | undefined {
  if (update.type === 'addRules' && update.behavior === 'allow') {
    const rules = listOf(update.rules).map(({ toolName, ruleContent }) =>
      typeof ruleContent === 'string' ? `${textOf(toolName)}(${ruleContent})` : `every ${textOf(toolName)}`,
    )
    return rules.length > 0 ? rules.join(', ') : undefined
  }
  if (update.type === 'addDirectories' && Array.isArray(update.directories))
    return `files below ${update.directories.join(', ')}`
  return update.type === 'setMode' && update.mode === 'acceptEdits' ? 'every edit in this project' : undefined
}

function wordsOf({ tool_name, display_name, description, blocked_path }: Loose): string {
  const tool = textOf(display_name) ?? textOf(tool_name) ?? 'a tool'
  const what = textOf(description)
  const path = textOf(blocked_path)
  return `${tool}${what ? `: ${what}` : ''}${path ? `\nIt reaches ${path}` : ''}`
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
  return answer(id, { behavior: 'allow', updatedInput, ...(updatedPermissions ? { updatedPermissions } : {}) })
}

const deny = (id: string, message: string) => answer(id, { behavior: 'deny', message })

const answer = (request_id: string, response: Loose) =>
  line({ type: 'control_response', response: { subtype: 'success', request_id, response } })

export const line = (message: Loose) => `${JSON.stringify(message)}\n`
