import type { Entry } from '../core/talk/entry.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'
import type { Left } from '../mind/think/decompose/kept.ts'
import type { App } from '../app/app.ts'
import { typedPrompt } from '../core/talk/file-references.ts'
import { localTime } from '../base/local-time.ts'
import { lastLeft } from '../mind/think/decompose/kept.ts'
import { treesOf } from '../app/thinking/task-trees.ts'
import { oneLine } from '../base/table.ts'
import { uncommitted } from './uncommitted.ts'

/** Where a conversation stands when it is gone on with: the last request, what was left undone, what is not committed, who is back. */
export async function greeting(app: App, view: readonly Entry[], standing: Standing): Promise<string[]> {
  const last = view.findLast((entry) => entry.type === 'prompt')
  if (last?.type !== 'prompt') return []
  const [changes, left] = await Promise.all([
    uncommitted(app.place.root, app.io.env),
    lastLeft(treesOf(app)).catch(() => undefined),
  ])
  return [
    `Last request (${localTime(last.at)}): ${oneLine(typedPrompt(last.text), 100)}`,
    ...(left ? [leftWords(left)] : []),
    ...(changes === undefined ? [] : [changesWords(changes)]),
    whoIsBack(standing),
  ]
}

const leftWords = ({ prompt, done, of }: Left) =>
  `Left undone: ${oneLine(typedPrompt(prompt), 60)} (${done} of ${of} tasks are done); /think resume goes on with it.`

const changesWords = (files: number) =>
  files === 0 ? 'Nothing uncommitted.' : `Uncommitted: ${files} ${files === 1 ? 'file' : 'files'}.`

function whoIsBack({ agents }: Standing): string {
  const ready = agents.filter(({ state }) => state === 'ready').map(({ name }) => name)
  const others = agents
    .filter(({ state }) => state !== 'ready')
    .map(({ name, state, until }) => `${name} is ${state}${until === undefined ? '' : ` until ${localTime(until)}`}`)
  return [ready.length === 0 ? 'Nobody is ready' : `Ready: ${ready.join(', ')}`, ...others].join('; ') + '.'
}
