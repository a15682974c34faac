import type { Env } from '../base/env.ts'
import type { Entry } from '../core/talk/entry.ts'
import type { Standing } from '../chat/desk/chat-desk.ts'
import type { UnfinishedTree } from '../think/decompose/saved-trees.ts'
import type { AppRecords } from '../turn/app.ts'
import { isPersonCommand } from '../core/talk/entry.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { localTime } from '../base/time/local-time.ts'
import { lastUnfinished } from '../think/decompose/saved-trees.ts'
import { treesOf } from '../think/turn/task-trees.ts'
import { oneLine } from '../base/text/table.ts'
import { anyChange } from '../base/files/git.ts'
import { projectGit } from '../base/git/project-git.ts'
import { stateNames } from '../chat/desk/chat-desk.ts'

/** The lines shown when a conversation is continued: last request, unfinished tasks, uncommitted changes, agents that are back. */
export async function greeting(app: AppRecords, view: readonly Entry[], standing: Standing): Promise<string[]> {
  const commands = new Set(view.filter(isPersonCommand).map(({ turn }) => turn))
  const last = view.findLast((entry) => entry.type === 'prompt' && !commands.has(entry.turn))
  if (last?.type !== 'prompt') return []
  const [changes, left] = await Promise.all([
    uncommitted(app.place.root, app.io.env),
    lastUnfinished(treesOf(app)).catch(() => undefined),
  ])
  return [
    `Last request (${localTime(last.at)}): ${oneLine(typedPrompt(last.text), 100)}`,
    ...(left ? [leftWords(left)] : []),
    ...(changes === undefined ? [] : [changesWords(changes)]),
    whoIsBack(standing),
  ]
}

const leftWords = ({ prompt, done, of }: UnfinishedTree) =>
  `Unfinished: ${oneLine(typedPrompt(prompt), 60)} (${done} of ${of} tasks done); /think resume continues it.`

const changesWords = (files: number) =>
  files === 0 ? 'No uncommitted changes.' : `Uncommitted: ${files} ${files === 1 ? 'file' : 'files'}.`

function whoIsBack({ agents }: Standing): string {
  const ready = agents.filter(({ state }) => state === 'ready').map(({ name }) => name)
  const others = agents
    .filter(({ state }) => state !== 'ready')
    .map(
      ({ name, state, until }) =>
        `${name} is ${stateNames[state]}${until === undefined ? '' : ` until ${localTime(until)}`}`,
    )
  return [ready.length === 0 ? 'No agent is ready' : `Ready: ${ready.join(', ')}`, ...others].join('; ') + '.'
}

/** Counts the uncommitted files; undefined without git. Runs no program that the repository's configuration names. */
export async function uncommitted(root: string, env: Env): Promise<number | undefined> {
  const { code, out } = await projectGit(env).ran(root, anyChange)
  return code === 0 ? out.toString().split('\0').length - 1 : undefined
}
