import type { Blobs } from '../../../core/talk/store.ts'
import type { KeptText, TaskCheck, TaskResult, TaskTry, TryDiff } from '../../model/tasks/task-try.ts'
import type { Task } from '../../model/tasks/task.ts'
import { defined } from '../../../base/defined.ts'
import { StoreError } from '../../../core/talk/store.ts'
import { diffSize, lineInDiff } from '../../../core/data/diff-lines.ts'
import { workIn } from '../../model/tasks/task-changes.ts'
import { longestText, shownOutput } from '../../model/tasks/task-try.ts'
import { HubError } from '../rules/task-rules.ts'

/** A diff as an agent sends it: the text itself, or the id of a text that the hub already has. */
export type SentDiff = string | { id: string; cut?: boolean }

/** A check as an agent sends it: with its whole output, or with the id of a text that the hub already has. */
export type SentCheck = { command: string; exit?: number; why?: string; ms?: number; output?: string; whole?: string }

const media = 'text/plain'
const megabytes = longestText / 1024 / 1024

/** Long texts of tasks: diffs, and the output of checks. They are stored beside the tasks, so that a list of tasks stays short. */
export class TaskTexts {
  #blobs: Blobs

  constructor(blobs: Blobs) {
    this.#blobs = blobs
  }

  /** Stores a text that is sent in pieces; it is durable when this resolves. An incomplete text is not kept. */
  async receive(chunks: AsyncIterable<Uint8Array>): Promise<KeptText> {
    const writer = this.#blobs.writer(media)
    let bytes = 0
    try {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > longestText)
          throw new HubError('long', `The text is longer than ${megabytes} MB, which is the most that the hub keeps.`)
        await writer.write(chunk)
      }
      const { sha } = await writer.done()
      return { id: sha, bytes }
    } catch (error) {
      await writer.drop()
      throw error
    }
  }

  async keep(text: string): Promise<KeptText> {
    const { sha, bytes } = await this.#blobs.put(text, media)
    return { id: sha, bytes }
  }

  read({ id, bytes }: KeptText): AsyncIterable<Uint8Array> {
    return this.#blobs.read({ sha: id, media, bytes })
  }

  /** The beginning of a text, at most this many characters. */
  async beginning(kept: KeptText, most: number): Promise<string> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of this.read(kept)) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= most) return text.slice(0, most)
    }
    return text + decoder.decode()
  }

  /** The diff to store with a try; undefined for an empty diff. */
  async diff(sent: SentDiff | undefined): Promise<TryDiff | undefined> {
    if (sent === undefined || sent === '') return undefined
    const { id } = typeof sent === 'string' ? await this.keep(sent) : sent
    const cut = typeof sent !== 'string' && sent.cut ? (true as const) : undefined
    let bytes = 0
    const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        yield chunk
      }
    }
    const size = await refuseUnknown(id, diffSize(counted(this.read({ id, bytes: 0 }))))
    return bytes === 0 ? undefined : defined({ id, bytes, ...size, cut })
  }

  /** The check to store with a try; of a long output only the end is stored. */
  async check(
    { command, exit, why, ms = 0, output = '', whole: id }: SentCheck,
    ranBy: TaskCheck['ranBy'],
  ): Promise<TaskCheck> {
    const base = defined({ command, exit, why, ms, ranBy })
    if (id !== undefined) {
      const bytes = await refuseUnknown(id, sizeOf(this.read({ id, bytes: 0 })))
      return { ...base, output: endOf(output), whole: { id, bytes } }
    }
    if (output.length <= shownOutput) return { ...base, output }
    return { ...base, output: endOf(output), whole: await this.keep(output) }
  }

  /** The task in today's format: an older termaite stored diffs inside tasks, and this moves them into texts. */
  async withMovedDiffs(task: Task): Promise<Task> {
    const tries = task.tries ?? triesOf(task)
    const hasDiff = ({ result }: { result?: OldResult }) => result?.diff !== undefined
    if (![task, ...tries].some(hasDiff)) return task
    const moved: TaskTry[] = []
    for (const one of tries) moved.push(await this.#withMovedDiff(one))
    return { ...task, ...(task.result ? { result: withoutDiff(task.result) } : {}), tries: moved }
  }

  async #withMovedDiff(one: TaskTry): Promise<TaskTry> {
    const { diff: text } = (one.result ?? {}) as OldResult
    if (text === undefined || !one.result) return one
    const { branch, worktree } = workIn(one.result)
    return defined({ ...one, branch, worktree, result: withoutDiff(one.result), diff: await this.diff(text) })
  }

  /** A line of a file, found in the diff of a try. */
  line(diff: TryDiff, place: { path: string; line: number; side: 'old' | 'new' }): Promise<string | undefined> {
    return lineInDiff(this.read(diff), place)
  }
}

/** A result as an older termaite stored it, with the diff inside. */
type OldResult = TaskResult & { diff?: string }

/** The end of an output, starting at the beginning of a line. */
function endOf(output: string): string {
  if (output.length <= shownOutput) return output
  const end = output.slice(-shownOutput)
  return end.slice(end.indexOf('\n') + 1)
}

function withoutDiff(result: OldResult): TaskResult {
  const { diff: _, ...rest } = result
  return rest
}

/** The one try that can be reconstructed for a task that an even older termaite stored. */
function triesOf({ agent, result, created, moved, state }: Task): TaskTry[] {
  if (agent === undefined || !result) return []
  const end = state === 'COMPLETED' || state === 'FAILED' ? state : 'IN_REVIEW'
  return [{ number: 1, agent, began: created, ended: moved, end, result }]
}

async function sizeOf(chunks: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}

/** Turns the id of a text that was never sent into a refusal. */
async function refuseUnknown<T>(id: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new HubError('wrong', `The hub has no text ${JSON.stringify(id)}. Send the text first, then name its id.`)
  }
}
