import type { Entry } from '../core/talk/entry.ts'
import type { Snapshots, TurnRecord } from '../safety/snapshots/snapshots.ts'
import { oneLine } from '../base/text/table.ts'

/** The most files that one line names. */
const mostFiles = 8

/**
 * Says in one line each what happened to the project's files since the last turn of a conversation: undone turns, turns of other
 * conversations, and changes by the person or another program. `entries` are those of the conversation, `turn` the turn that begins, and
 * `tree` the files as they are now, if that is known.
 */
export async function fileNews(
  snapshots: Pick<Snapshots, 'list' | 'changed'>,
  { entries, turn, tree }: { entries: readonly Entry[]; turn: string; tree: string | undefined },
): Promise<string[]> {
  const known = new Set(entries.map((entry) => entry.turn))
  const all = (await snapshots.list()).filter((record) => record.turn !== turn)
  const last = all.findLastIndex((record) => known.has(record.turn))
  if (last < 0) return []
  const named = (id: string) => `“${oneLine(all.find((record) => record.turn === id)?.prompt ?? id, 60)}”`
  const news: string[] = []
  const tell = async (words: string, from: string, to: string | undefined) => {
    if (to === undefined || from === to) return
    const files = await snapshots.changed(from, to)
    if (files.length > 0) news.push(`${words}: ${list(files)}.`)
  }
  let files = all[last]!.after
  for (const record of withoutCancelled(all.slice(last + 1))) {
    if (files !== undefined) await tell(outside, files, record.before)
    await tell(whose(record, all, named), record.before, record.after)
    files = record.after
  }
  if (files !== undefined) await tell(outside, files, tree)
  return news
}

const outside = 'The user or another program changed'

function whose({ turn, undoes }: TurnRecord, all: readonly TurnRecord[], named: (turn: string) => string): string {
  if (undoes === undefined) return `Another turn in this project, ${named(turn)}, changed`
  let undone = undoes
  let isBack = false
  for (;;) {
    const before = all.find((record) => record.turn === undone)?.undoes
    if (before === undefined) break
    undone = before
    isBack = !isBack
  }
  return isBack
    ? `The user brought back what the turn ${named(undone)} had changed`
    : `The user undid the turn ${named(undone)}, and its changes are gone from`
}

/** Drops turns that were undone since then, and their undos: together they changed nothing. */
function withoutCancelled(records: readonly TurnRecord[]): TurnRecord[] {
  const cancelled = new Set<string>()
  for (const { turn, undoes } of records.toReversed()) {
    if (undoes === undefined || cancelled.has(turn) || !records.some((one) => one.turn === undoes)) continue
    cancelled.add(turn)
    cancelled.add(undoes)
  }
  return records.filter(({ turn }) => !cancelled.has(turn))
}

function list(files: readonly string[]): string {
  const rest = files.length - mostFiles
  return [...files.slice(0, mostFiles), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}
