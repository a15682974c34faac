import type { PlanItem } from '../../../core/talk/entry.ts'
import { readFile, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../base/files/files.ts'
import { messageOf } from '../../../base/error-message.ts'
import { writeAtomically } from '../files/file-change.ts'

export const todoFile = '.todos.json'

const states = new Set<unknown>(['pending', 'in_progress', 'completed'])

/** The tasks of a working directory, in a file there that is only read when a todo tool is called. */
export class TodoList {
  #turn: Promise<unknown> = Promise.resolve()

  async read(cwd: string): Promise<PlanItem[]> {
    const text = await readFile(join(cwd, todoFile), 'utf8').catch((error) => {
      if (isMissing(error)) return undefined
      throw new Error(`${todoFile} could not be read: ${messageOf(error)}.`)
    })
    return text === undefined ? [] : itemsIn(text)
  }

  /** Changes the list, one change after another. A list whose tasks are all completed is deleted. */
  change(cwd: string, change: (now: PlanItem[]) => PlanItem[]): Promise<PlanItem[]> {
    const next = this.#turn.then(async () => {
      const items = change(await this.read(cwd))
      const path = join(await realpath(cwd), todoFile)
      if (items.every(({ status }) => status === 'completed')) await rm(path, { force: true })
      else await writeAtomically(path, JSON.stringify({ items }))
      return items
    })
    this.#turn = next.catch(() => {})
    return next
  }
}

/** The error does not quote the file, which may be a link to any other file. */
function itemsIn(text: string): PlanItem[] {
  const found = parseList(text) as { items?: unknown } | undefined
  const items = found?.items
  if (!Array.isArray(items) || !items.every(isItem))
    throw new Error(`${todoFile} exists but is not a list of tasks. Ask the person whether it may be deleted.`)
  return items.map(({ task, status }) => ({ task, status }))
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isItem(value: unknown): value is PlanItem {
  const { task, status } = (value ?? {}) as Record<string, unknown>
  return typeof task === 'string' && states.has(status)
}

const marks = { pending: '[ ]', in_progress: '[>]', completed: '[x]' }

/** The list as a tool's result: text for the model, and items that the chat shows as a plan. */
export function todoResult(items: PlanItem[], note = ''): { text: string; data: { items: PlanItem[] } } {
  const lines = items.map(({ task, status }) => `${marks[status]} ${task}`)
  const done = items.length > 0 && items.every(({ status }) => status === 'completed')
  const end = done ? ['All tasks are completed; the list is cleared.'] : []
  const text = items.length === 0 ? 'There are no tasks.' : [...lines, ...end].join('\n')
  return { text: note === '' ? text : `${text}\n${note}`, data: { items } }
}
