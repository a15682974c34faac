import type { TaskNote } from '../../hub/model/tasks/task-note.ts'
import type { AgentQuestion, Task } from '../../hub/model/tasks/task.ts'
import type { FileChange, TaskWork } from '../../hub/model/tasks/task-changes.ts'
import type { LocalWork } from '../../worktrees/task-merge.ts'
import { shortId } from '../../hub/client/hub-client.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { durationText } from '../../base/time/duration.ts'
import { localTime } from '../../base/time/local-time.ts'
import { groupDigits } from '../../base/text/number-words.ts'
import { table } from '../../base/text/table.ts'
import { defined } from '../../base/defined.ts'
import { capWords, spentOn } from '../../hub/model/tasks/spending-cap.ts'
import { optionKeys, optionLines, orderWords } from '../../core/talk/consent.ts'
import { wholeName } from '../../hub/model/tasks/workspace.ts'
import { lastWork, sizeWords } from '../../hub/model/tasks/task-changes.ts'

/** The most lines of a diff that `task show` prints, and the most files it names. */
export const mostLines = 200
/** The last lines of the output of a check that failed. */
const shownLines = 10
const mostFiles = 40

/** The facts that are shown with a task: its work on this machine, the open question of its agent, and the first lines of its diff. */
type TaskContext = {
  work?: LocalWork
  asks?: AgentQuestion
  /** Why a queued task is not at work yet. */
  waits?: string
  diff?: { files: FileChange[]; lines: readonly string[]; left: number }
}

/** Writes a task: its state, question, history, notes, tries, changes, answer and diff. */
export function taskWords(task: Task, { work, asks, diff, waits }: TaskContext = {}): string {
  const { id, state, why, agent, workspace, prompt, needs, notes, history, result } = task
  const parts = [
    `${id}  ${state}${why === undefined ? '' : `: ${why}`}`,
    `${wholeName(workspace)}${agent === undefined ? '' : `, with ${agent}`}`,
    ...(waits === undefined ? [] : [waits]),
    ...(needs.length > 0 ? [`after ${needs.join(', ')}`] : []),
    ...capLines(task),
    '',
    prompt,
    ...questionLines(task, asks),
    '',
    ...history.map(
      ({ at, state, by, why, merged }) =>
        `${localTime(at)}  ${state} by ${by}${why === undefined ? '' : `: ${why}`}${merged ? `, merged into ${merged.into} on ${merged.machine}` : ''}`,
    ),
    ...(notes.length > 0 ? ['', ...notes.map(noteLine)] : []),
    ...tryLines(task),
    ...checkLines(task),
    ...workLines(task, work, diff?.files),
    ...(result ? ['', result.message] : []),
    ...(diff ? ['', ...diff.lines, ...moreLines(diff.left, shortId(id))] : []),
  ]
  // Each part is cleaned of escape sequences by itself, so that none can hide the parts after it.
  return parts.map(stripAnsi).join('\n')
}

/** A note, with the line that it is about. */
function noteLine({ at, by, kind, text, place, resolved }: TaskNote): string {
  const head = `${localTime(at)}  ${by}, ${kind}`
  if (!place) return `${head}: ${text}`
  const side = place.side === 'old' ? ', before the change' : ''
  const end = resolved === undefined ? '' : ` (resolved by ${resolved})`
  return `${head} at ${place.path}:${place.line} of try ${place.try}${side}${end}: ${text}\n    > ${place.text}`
}

/** The checks of the last try that has any: the result of each, and the last lines of the failed ones. */
function checkLines({ tries = [] }: Task): string[] {
  const last = tries.findLast(({ checks = [] }) => checks.length > 0)
  if (!last) return []
  return [
    '',
    `Checks of try ${last.number}:`,
    ...last.checks!.flatMap(({ command, exit, why, ms, output, ranBy }) => {
      const end = exit === undefined ? (why ?? 'how it ended is not known') : `exit ${exit}`
      const facts = [
        end,
        ...(ms > 0 ? [durationText(ms)] : []),
        ranBy === 'termaite' ? 'ran by termaite' : 'as the agent says',
      ]
      const shown =
        exit === 0
          ? []
          : output
              .trimEnd()
              .split('\n')
              .slice(-shownLines)
              .filter((line) => line !== '')
      return [`  ${command}: ${facts.join(', ')}`, ...shown.map((line) => `    ${line}`)]
    }),
  ]
}

/** One line for each try of a task that was tried more than once, or whose use is known. */
function tryLines({ tries = [] }: Task): string[] {
  if (tries.length < 2 && tries.every(({ spent }) => spent === undefined)) return []
  return [
    '',
    ...tries.map(({ number, agent, end, spent, late, machine }) => {
      const used =
        spent && `${groupDigits(spent.tokens)} tokens${spent.cost === undefined ? '' : `, $${spent.cost.toFixed(2)}`}`
      return `Try ${number}: ${[machine === undefined ? agent : `${agent} on ${machine}`, end ?? 'at work', ...(late ? ['its work came too late'] : []), ...(used === undefined ? [] : [used])].join(', ')}`
    }),
  ]
}

/** The cap of a task, and the used part of it. */
function capLines(task: Task): string[] {
  if (!task.cap) return []
  const { tokens, cost } = spentOn(task)
  const used = tokens === 0 ? 'its agents have reported nothing yet' : `used: ${capWords(defined({ cost, tokens }))}`
  return [`cap ${capWords(task.allowed ?? task.cap)}; ${used}`]
}

/** The open question of a task and how to answer it. */
function questionLines({ id, question, options, moved }: Task, asks: AgentQuestion | undefined): string[] {
  if (asks) return ['', ...agentQuestionLines(asks, shortId(id))]
  if (options) return ['', ...agentQuestionLines({ id, text: question ?? '', options, at: moved }, shortId(id))]
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
function workLines(task: Task, local: LocalWork | undefined, files: FileChange[] = []): string[] {
  const named = lastWork(task)
  const told = named.files.length > 0 ? named : { ...named, files }
  const work: TaskWork = local ? { ...told, ...local, worktree: local.worktree ?? told.worktree } : told
  const { branch } = work
  if (branch === undefined && work.files.length === 0) return []
  const head = [sizeWords(work.files) || 'no files', ...(branch === undefined ? [] : [`on the branch ${branch}`])]
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

/** The place of a branch that this machine does not have. */
function elsewhereLines({ id, tries = [], workspace, state }: Task, branch: string): string[] {
  const last = tries.findLast((one) => !one.late && one.branch === branch)
  const merge = mergeable.includes(state) ? [`  Merge:     termaite task approve ${shortId(id)} --merge`] : []
  const get = `  Get it:    termaite task fetch ${shortId(id)}`
  if (last?.pushed !== undefined) return [`  The branch is at ${last.pushed}.`, get, ...merge]
  if (last?.bundle)
    return [`  The branch is kept at the hub; ${last.machine ?? 'another machine'} made it.`, get, ...merge]
  return [`  The branch is not in ${wholeName(workspace)} on this machine: it was merged or deleted, or is elsewhere.`]
}

const mergeable: readonly Task['state'][] = ['IN_REVIEW', 'APPROVED', 'COMPLETED']

function commandLines(task: Task, branch: string | undefined, local: LocalWork | undefined): string[] {
  const { id, state } = task
  const short = shortId(id)
  if (branch === undefined) return []
  if (!local) return elsewhereLines(task, branch)
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

function moreLines(left: number, id: string): string[] {
  return left === 0 ? [] : [`… ${left} more ${left === 1 ? 'line' : 'lines'}: termaite task diff ${id}`]
}
