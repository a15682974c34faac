import type { ToolCall } from '../../../core/work/tool.ts'
import type { ToolParts } from '../shared/tool-parts.ts'
import type { ReadFiles } from './file-access.ts'
import type { WholeFile } from './editable-file.ts'
import { messageOf } from '../../../base/error-message.ts'
import { openReal } from '../../../base/files/held-folder.ts'
import { draftOf } from './editable-file.ts'

export type FormatParts = Pick<ToolParts, 'format'>

/** A file that was just written, with its text as the model knows it. */
type WrittenFile = Pick<WholeFile, 'path' | 'at' | 'real'> & { after: string }

/** The present text of the file, and a sentence for the model, with a space before it; empty if nothing was formatted. */
type Formatted = { after: string; words: string }

/**
 * Runs the project's formatter on a file that was just written, and tells the model about the changes, so that its next edit fits. A
 * formatter's failure is reported but does not fail the edit, because the file was written.
 */
export async function formatWritten(
  file: WrittenFile,
  call: ToolCall,
  parts: FormatParts,
  seen: ReadFiles,
): Promise<Formatted> {
  const { path, real, after } = file
  const run = await parts.format?.(file.at, call).catch((error) => ({ command: undefined, problem: messageOf(error) }))
  if (!run) return { after, words: '' }
  const formatter = run.command === undefined ? 'The formatter' : `The formatter (${run.command})`
  const problem = run.problem === undefined ? '' : ` ${formatter} failed on ${path}: ${run.problem}`
  try {
    const handle = await openReal(real)
    try {
      const stats = await handle.stat({ bigint: true })
      const { encoding, draft } = draftOf({ path, bytes: await handle.readFile() })
      const now = encoding.shown(draft)
      const difference = now === after ? '' : await changedLines(after, now)
      // If the model was not shown all changes, it has to read the file again before its next edit.
      if (difference !== undefined) seen.remember(real, stats)
      if (now === after) return { after, words: problem }
      const told =
        difference === undefined
          ? `changed much of ${path}: read it again before you edit it.`
          : `then changed ${path}:\n${difference}`
      return { after: now, words: `${problem} ${formatter} ${told}` }
    } finally {
      await handle.close()
    }
  } catch (error) {
    return {
      after,
      words: `${problem} ${path} could not be read after the formatter ran: ${messageOf(error).replace(/\.$/, '')}.`,
    }
  }
}

/** The most lines and characters of a difference that are worth their tokens. */
const mostLines = 60
const longest = 6000

/** The lines that differ between two texts, each group below the number of its first line; undefined if there are too many. */
async function changedLines(before: string, after: string): Promise<string | undefined> {
  const { structuredPatch } = await import('diff')
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 0, timeout: 1000 })
  if (!patch) return undefined
  const lines = patch.hunks.flatMap(({ newStart, lines }) => [`@@ line ${newStart}`, ...lines])
  const text = lines.join('\n')
  return lines.length > mostLines || text.length > longest ? undefined : text
}
