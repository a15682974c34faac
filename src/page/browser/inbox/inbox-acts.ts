import type { Option, Question } from '../../../core/talk/question.ts'
import type { InboxRow } from '../../../hub/model/tasks/inbox.ts'
import { optionKeys } from '../../../core/talk/consent.ts'
import { agentPath, pipelinePath, taskPath, turnPath } from '../hub/act.ts'

/** An act on an item by one key or one swipe; `words` say that it is done. */
export type QuickAct = { label: string; words: string; path: string; body: object }

/** The try that a review is about: the hub refuses a verdict when there is a newer one. */
export const seenTry = ({ try: number }: Pick<InboxRow, 'try'>) => (number === undefined ? {} : { try: number })

type QuickActs = { allow?: QuickAct; deny?: QuickAct }

type Asked = Pick<Question, 'options' | 'multiple' | 'secret'>

/** The yes and the no of an item, if one key is enough for them: `asked` is its question. */
export function quickActs(row: InboxRow, asked: Asked | undefined): QuickActs {
  if (row.kind === 'review' && row.task !== undefined) {
    const path = taskPath(row.task, 'approve')
    return { allow: { label: 'Approve', words: `Approved: ${row.title}`, path, body: seenTry(row) } }
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
): { path: string; body: object } | undefined {
  if (turn !== undefined) return { path: turnPath(turn, 'answer'), body: { ask, picks } }
  // The hub itself asks when a cap is exceeded.
  if (pipeline !== undefined) return { path: pipelinePath(pipeline, 'answer'), body: { text: picks[0] } }
  if (kind === 'cap') return { path: '/api/days/answer', body: { workspace, text: picks[0] } }
  if (kind === 'blocked' && task !== undefined) return { path: taskPath(task, 'answer'), body: { text: picks[0] } }
  if (agent === undefined) return undefined
  const keys = optionKeys(options)
  const words = picks.map((pick) => {
    const at = options.findIndex(({ id }) => id === pick)
    return at < 0 ? pick : String(keys[at])
  })
  return { path: agentPath(agent, 'answer'), body: { text: words.join(' ') } }
}
