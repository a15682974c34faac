import type { Option, Question } from '../../../core/talk/question.ts'
import type { InboxRow } from '../../../hub/model/tasks/inbox.ts'
import type { OperationName, SentFields } from '../../../hub/model/operations/operations.ts'
import type { HubRequest } from '../hub/page-request.ts'
import { request } from '../hub/page-request.ts'

/** An act on an item by one key or one swipe; `words` describe it as done. */
export type QuickAct = PlannedAct & { label: string; words: string }

/** An act that was not sent yet. */
type PlannedAct = { to: HubRequest; fields: SentFields<OperationName> }

/** The try to which a review refers: the hub refuses a verdict if there is a newer try. */
export const seenTry = ({ try: number }: Pick<InboxRow, 'try'>) => (number === undefined ? {} : { try: number })

type QuickActs = { allow?: QuickAct; deny?: QuickAct }

type Asked = Pick<Question, 'options' | 'multiple' | 'secret'>

/** The acts for yes and no on an item, if a single key is enough for them; `asked` is its question. */
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
    const answer = answerTo(row, [option.id])
    return answer && { label: option.label, words, ...answer }
  }
  const [allow, deny] = [act('once'), act('no')]
  return { ...(allow ? { allow } : {}), ...(deny ? { deny } : {}) }
}

type Answerable = Partial<Pick<InboxRow, 'kind' | 'turn' | 'ask' | 'agent' | 'task' | 'workspace' | 'pipeline'>>

/** The request that answers an item. */
export function answerTo(
  { kind, turn, ask, agent, task, workspace, pipeline }: Answerable,
  picks: readonly string[],
): PlannedAct | undefined {
  if (turn !== undefined && ask !== undefined)
    return planAct(request('POST /api/turns/:id/answer', { id: turn }), { ask, picks })
  // The question is the hub's own, about a cap that was exceeded.
  if (pipeline !== undefined) return planAct(request('POST /api/pipelines/:id/answer', { id: pipeline }), { picks })
  if (kind === 'cap' && workspace !== undefined) return planAct(request('POST /api/days/answer'), { workspace, picks })
  if (kind === 'blocked' && task !== undefined)
    return planAct(request('POST /api/tasks/:id/answer', { id: task }), { picks })
  return agent === undefined ? undefined : planAct(request('POST /api/agents/:id/answer', { id: agent }), { picks })
}

const planAct = <N extends OperationName>(to: HubRequest<N>, fields: SentFields<N>): PlannedAct => ({ to, fields })
