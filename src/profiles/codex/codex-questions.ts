import type { Step } from '../../core/profile/profile.ts'
import type { Option, Question, Shown } from '../../core/talk/question.ts'
import type { Loose } from '../shared/jsonl.ts'
import { defined } from '../../base/defined.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { askChoices } from '../shared/choice-cards.ts'
import { changesOf, commandOf } from './codex-items.ts'
import { idOf, listOf, loose, textOf } from '../shared/jsonl.ts'
import { consentOptions } from '../../core/talk/consent.ts'

/** The helpers that answers need: replies as text for stdin, and text for the model. */
type Replies = {
  answer(id: unknown, result: Loose): string
  refuse(id: unknown, why: string): string
  steer(text: string): string
  /** The known parts of the item with this id. */
  item(id: string): Loose
}

/** The questions of an app-server's request; a request that we cannot answer is refused, so that Codex does not wait for an answer. */
export function questionSteps({ id, method, params }: Loose, desk: Replies): Step[] {
  const wish = loose(params)
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return [decision(id, desk, commandQuestion(wish), commandOffers(wish))]
    case 'item/fileChange/requestApproval':
      return [fileQuestion(id, wish, desk)]
    case 'item/permissions/requestApproval':
      return [widening(id, wish, desk)]
    case 'item/tool/requestUserInput':
      return choices(id, wish, desk)
    case 'mcpServer/elicitation/request':
      return [elicitation(id, wish, desk)]
    default:
      return [{ type: 'send', text: desk.refuse(id, `${textOf(method)} is not served here`) }]
  }
}

type Asked = Pick<Question, 'text' | 'shows'>
type Offer = Option & { result: Loose }

/**
 * One card: yes, further offers, no, and no with a message, which reaches the model like text typed during the turn. `lasting` is the
 * label of a yes that Codex remembers longer than once.
 */
function card(
  id: unknown,
  desk: Replies,
  asked: Asked,
  yes: Loose,
  offers: readonly Offer[],
  no: Loose,
  lasting?: string,
): Extract<Step, { type: 'ask' }> {
  const [always, ...others] = offers.map(({ result: _result, ...option }): Option => option)
  return {
    type: 'ask',
    id: idOf(id),
    question: {
      about: 'permission',
      from: [],
      free: true,
      ...asked,
      options: consentOptions({
        once: lasting === undefined ? { id: 'once', label: 'Yes, once' } : undefined,
        always: lasting === undefined ? always : { id: 'once', label: lasting },
        no: { id: 'no', label: 'No' },
        others,
      }),
    },
    reply(picks) {
      const pick = picks?.[0]
      if (pick === 'once') return desk.answer(id, yes)
      const offer = offers.find((one) => one.id === pick)
      if (offer) return desk.answer(id, offer.result)
      const words = pick === undefined || pick === 'no' ? '' : desk.steer(pick)
      return desk.answer(id, no) + words
    },
  }
}

const decision = (id: unknown, desk: Replies, asked: Asked, offers: readonly Offer[]) =>
  card(id, desk, asked, { decision: 'accept' }, offers, { decision: 'decline' })

const untilTurnEnds = (grants: string): Offer => ({
  id: 'turn',
  label: 'Yes, until this turn ends',
  grants: `${grants}, until this turn ends`,
  result: { decision: 'acceptForSession' },
})

function commandQuestion(wish: Loose): Asked {
  const { command, cwd, reason, networkApprovalContext } = wish
  const host = textOf(loose(networkApprovalContext).host)
  const what = host === undefined ? 'Run a command outside the sandbox' : `Reach ${host} over the network`
  const place = textOf(cwd)
  const shows: Shown[] =
    typeof command === 'string' ? [defined({ type: 'command', command: commandOf(command), cwd: place })] : []
  return { text: withReason(what, reason), shows }
}

function commandOffers({ command, networkApprovalContext, proposedExecpolicyAmendment }: Loose): Offer[] {
  const host = textOf(loose(networkApprovalContext).host)
  if (host !== undefined) return [untilTurnEnds(`the network to ${host}`)]
  const proposed = Array.isArray(proposedExecpolicyAmendment) ? proposedExecpolicyAmendment : []
  const prefix = proposed.every((word) => typeof word === 'string') ? proposed : []
  return [
    ...(typeof command === 'string' ? [untilTurnEnds('this very command')] : []),
    ...(prefix.length > 0
      ? [
          {
            id: 'always',
            label: 'Yes, always in every project',
            grants: `every command that begins with "${prefix.map(shellWord).join(' ')}", in every project from now on (a rule of Codex)`,
            result: { decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } } },
          },
        ]
      : []),
  ]
}

function fileQuestion(id: unknown, { itemId, reason, grantRoot }: Loose, desk: Replies): Step {
  const item = desk.item(idOf(itemId))
  const paths = listOf(item.changes).map(pathsOf).join(', ')
  const root = textOf(grantRoot)
  const asked = {
    text: withReason(`Change ${paths || 'files'}`, reason),
    shows: changesOf(item).map((change) => ({ type: 'diff' as const, ...change })),
  }
  // Changes that were not listed can be allowed only once.
  const grants = root === undefined ? paths && `changes of ${paths}` : `files below ${root}`
  return decision(id, desk, asked, grants ? [untilTurnEnds(grants)] : [])
}

function pathsOf({ path, kind }: Loose): string {
  const moved = textOf(loose(kind).move_path)
  return moved === undefined ? (textOf(path) ?? '') : `${textOf(path)} → ${moved}`
}

function widening(id: unknown, { permissions, reason }: Loose, desk: Replies): Step {
  const asked: Asked = {
    text: withReason('More than the sandbox allows', reason),
    shows: [{ type: 'text', text: JSON.stringify(permissions, null, 2) }],
  }
  const [yes, no] = [loose(permissions), {}].map((permissions) => ({ permissions, scope: 'turn' }))
  return card(id, desk, asked, yes!, [], no!, 'Yes, until this turn ends')
}

function choices(id: unknown, { questions }: Loose, desk: Replies): Step[] {
  const cards = listOf(questions).map((one) => ({
    key: textOf(one.id) ?? '',
    text: textOf(one.question) ?? '',
    multiple: false,
    options: listOf(one.options).map(({ label, description }) => ({
      label: textOf(label) ?? '',
      description: textOf(description) ?? '',
    })),
  }))
  const answered = (answers: ReadonlyMap<string, string[]>) =>
    desk.answer(id, {
      answers: Object.fromEntries([...answers].map(([key, picks]) => [key, { answers: picks }])),
    })
  if (cards.length === 0) return [{ type: 'send', text: answered(new Map()) }]
  return askChoices(idOf(id), cards, (answers) => answered(answers ?? new Map()))
}

/** A question of Codex's own MCP server: our only possible answer is yes, so a form is declined. */
function elicitation(id: unknown, wish: Loose, desk: Replies): Step {
  const { serverName, message, mode, requestedSchema } = wish
  const declined = { action: 'decline', content: null, _meta: null }
  const { required } = loose(requestedSchema)
  if (mode === 'url' || (Array.isArray(required) && required.length > 0))
    return { type: 'send', text: desk.answer(id, declined) }
  const asked = { text: `${textOf(serverName)}: ${textOf(message)}` }
  return card(id, desk, asked, { action: 'accept', content: {}, _meta: null }, [], declined)
}

const withReason = (what: string, reason: unknown) => (textOf(reason) ? `${what}\n${textOf(reason)}` : what)
