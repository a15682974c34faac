import type { AgentQuestion, Task } from '../../core/work/task.ts'
import type { TaskWork } from '../../core/work/task-changes.ts'
import type { LocalWork } from '../../worktrees/task-merge.ts'
import { shortId } from '../../app/hub/hub-client.ts'
import { stripAnsi } from '../../base/ansi.ts'
import { localTime } from '../../base/local-time.ts'
import { table } from '../../base/table.ts'
import { optionKeys, optionLines, orderWords } from '../../core/talk/consent.ts'
import { sizeWords, workIn } from '../../core/work/task-changes.ts'

/** The most lines of a diff that `task show` prints, and the most files it names. */
const mostLines = 200
const mostFiles = 40

/** Writes a task: its state, question, history, notes, changes, answer and diff. `work` is its work on this machine, `asks` an open question of its agent. */
export function taskWords(task: Task, { work, asks }: { work?: LocalWork; asks?: AgentQuestion } = {}): string {
  const { id, state, why, agent, workspace, prompt, needs, notes, history, result } = task
  const parts = [
    `${id}  ${state}${why === undefined ? '' : `: ${why}`}`,
    `${workspace}${agent === undefined ? '' : `, with ${agent}`}`,
    ...(needs.length > 0 ? [`after ${needs.join(', ')}`] : []),
    '',
    prompt,
    ...questionLines(task, asks),
    '',
    ...history.map(
      ({ at, state, by, why }) => `${localTime(at)}  ${state} by ${by}${why === undefined ? '' : `: ${why}`}`,
    ),
    ...(notes.length > 0
      ? ['', ...notes.map(({ at, by, kind, text }) => `${localTime(at)}  ${by}, ${kind}: ${text}`)]
      : []),
    ...tryLines(task),
    ...workLines(task, work),
    ...(result ? ['', result.message] : []),
    ...(result?.diff ? ['', shortened(result.diff, shortId(id))] : []),
  ]
  // Each part is cleaned of escape sequences by itself, so that none can hide the parts after it.
  return parts.map(stripAnsi).join('\n')
}

/** One line for each try of a task that was tried more than once, or whose use is known. */
function tryLines({ tries = [] }: Task): string[] {
  if (tries.length < 2 && tries.every(({ spent }) => spent === undefined)) return []
  return [
    '',
    ...tries.map(({ number, agent, end, spent }) => {
      const used =
        spent &&
        `${spent.tokens.toLocaleString('en')} tokens${spent.cost === undefined ? '' : `, $${spent.cost.toFixed(2)}`}`
      return `Try ${number}: ${[agent, end ?? 'at work', ...(used === undefined ? [] : [used])].join(', ')}`
    }),
  ]
}

/** The open question of a task and how to answer it. */
function questionLines({ id, question }: Task, asks: AgentQuestion | undefined): string[] {
  if (asks) return ['', ...agentQuestionLines(asks, shortId(id))]
  if (question === undefined) return []
  return ['', `Question: ${question}`, `Answer it: termaite task answer ${shortId(id)} <words>`]
}

/** A question of an agent with its options, and how to answer it; `id` names the task or the agent. */
export function agentQuestionLines(asks: AgentQuestion, id: string): string[] {
  const { text, options, multiple, ordered, free } = asks
  const number = multiple ? 'numbers' : 'number'
  const what = options.length === 0 ? 'words' : free ? `${number} or words` : number
  const order = ordered ? `, ${orderWords(optionKeys(options))}` : ''
  return [`Question: ${text}`, ...optionLines(asks), `Answer it: termaite task answer ${id} <${what}>${order}`]
}

/** Names the branch, the worktree and the changed files of a task, and the commands that show and merge them. */
export function workLines(task: Task, local: LocalWork | undefined): string[] {
  const told = workIn(task.result)
  const work: TaskWork = local ? { ...told, ...local, worktree: local.worktree ?? told.worktree } : told
  const { branch, files } = work
  if (branch === undefined && files.length === 0) return []
  const head = [sizeWords(files) || 'no files', ...(branch === undefined ? [] : [`on the branch ${branch}`])]
  return [
    '',
    `Changes: ${head.join(' ')}`,
    ...fileLines(work),
    ...(work.worktree === undefined ? [] : [`  Worktree:  ${work.worktree}`]),
    ...commandLines(task, branch, local),
  ]
}

function fileLines({ files }: TaskWork): string[] {
  const cells = files
    .slice(0, mostFiles)
    .map(({ path, added, removed }) => [`  ${path}`, added === undefined ? 'binary' : `+${added} −${removed}`])
  const more = files.length > mostFiles ? [`  … and ${files.length - mostFiles} more files`] : []
  return [...(cells.length === 0 ? [] : table(cells).split('\n')), ...more]
}

function commandLines(
  { id, state, workspace }: Task,
  branch: string | undefined,
  local: LocalWork | undefined,
): string[] {
  const short = shortId(id)
  if (branch === undefined) return []
  if (!local) return [`  The branch is not in ${workspace} on this machine: it was merged or deleted, or is elsewhere.`]
  if (local.merged && local.files.length === 0) return [`  Everything on it is in ${local.into ?? local.root} already.`]
  const see = `  See them:  git -C ${local.root} diff HEAD...${branch}`
  if (state === 'IN_REVIEW')
    return [
      see,
      `  Merge:     termaite task approve ${short} --merge`,
      `  Send back: termaite task reject ${short} "<what is wrong>"`,
    ]
  if (state === 'APPROVED' || state === 'COMPLETED') return [see, `  Merge:     termaite task approve ${short} --merge`]
  return [see]
}

function shortened(diff: string, id: string): string {
  const lines = diff.split('\n')
  if (lines.length <= mostLines) return diff
  return `${lines.slice(0, mostLines).join('\n')}\n… ${lines.length - mostLines} more lines: termaite task diff ${id}`
}
