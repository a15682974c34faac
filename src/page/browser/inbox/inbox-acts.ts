import type { Option, Question } from '../../../core/talk/question.ts'
import type { InboxRow } from '../../../hub/model/tasks/inbox.ts'
import type { OperationName, SentFields } from '../../../hub/model/operations/operations.ts'
import type { HubRequest } from '../hub/hub-request.ts'
import { optionKeys } from '../../../core/talk/consent.ts'
import { request } from '../hub/hub-request.ts'

/** An act on an item by one key or one swipe; `words` say that it is done. */
export type QuickAct = PlannedAct & { label: string; words: string }

/** An act that is not sent yet. */
type PlannedAct = { to: HubRequest; fields: SentFields<OperationName> }

/** The try that a review is about: the hub refuses a verdict when there is a newer one. */
export const seenTry = ({ try: number }: Pick<InboxRow, 'try'>) => (number === undefined ? {} : { try: number })

type QuickActs = { allow?: QuickAct; deny?: QuickAct }

type Asked = Pick<Question, 'options' | 'multiple' | 'secret'>

/** The yes and the no of an item, if one key is enough for them: `asked` is its question. */
export function quickActs(row: InboxRow, asked: Asked | undefined): QuickActs {
  if (row.kind === 'review' && row.task !== undefined) {
    const approval = planAct(request('POST /api/tasks/:id/approve', { id: row.task }), seenTry(row))
    return { allow: { label: 'Approve', words: `Approved: ${row.title}`, ...approval } }
  }
  if (!asked || asked.multiple || asked.secret) return {}
  const act = (means: Option['means']): QuickAct | undefined => {
    const at = asked.options.findIndex((option) => option.means === means)
    const option = asked.options[at]
    if (!option) return undefined
    const words = `${row.title}: ${option.label}`
    const answer = answerTo(row, asked.options, [option.id])
    return answer && { label: option.label, words, ...answer }
  }
  const [allow, deny] = [act('once'), act('no')]
  return { ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) }
}

type Answerable = Partial<Pick<InboxRow, 'kind' | 'turn' | 'ask' | 'agent' | 'task' | 'workspace' | 'pipeline'>>

/** The request that answers an item: an agent at the hub takes the keys of options or words, a turn takes the picks themselves. */
export function answerTo(
  { kind, turn, ask, agent, task, workspace, pipeline }: Answerable,
  options: readonly Option[],
  picks: readonly string[],
): PlannedAct | undefined {
  if (turn !== undefined && ask !== undefined)
    return planAct(request('POST /api/turns/:id/answer', { id: turn }), { ask, picks })
  const [text = ''] = picks
  // The hub itself asks when a cap is exceeded.
  if (pipeline !== undefined) return planAct(request('POST /api/pipelines/:id/answer', { id: pipeline }), { text })
  if (kind === 'cap' && workspace !== undefined) return planAct(request('POST /api/days/answer'), { workspace, text })
  if (kind === 'blocked' && task !== undefined)
    return planAct(request('POST /api/tasks/:id/answer', { id: task }), { text })
  if (agent === undefined) return undefined
  const keys = optionKeys(options)
  const words = picks.map((pick) => {
    const at = options.findIndex(({ id }) => id === pick)
    return at < 0 ? pick : String(keys[at])
  })
  return planAct(request('POST /api/agents/:id/answer', { id: agent }), { text: words.join(' ') })
}

const planAct = <N extends OperationName>(to: HubRequest<N>, fields: SentFields<N>): PlannedAct => ({ to, fields })
