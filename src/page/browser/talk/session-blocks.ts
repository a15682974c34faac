import type { PlacedEntry } from '../../../core/turns/conversations.ts'
import type { Entry, Event } from '../../../core/talk/entry.ts'
import type { LiveSpeech, LiveTurn } from '../../../core/turns/machine-turns.ts'
import type { Block } from '../../../chat/transcript/block.ts'
import { blocksOfEntries } from '../../../chat/transcript/entry-blocks.ts'

/** The complete live text of a running turn. `over` means that no more text follows. */
export type LiveState = Omit<LiveTurn, 'type' | 'speech' | 'progress'> & {
  speech: (Omit<LiveSpeech, 'from'> & { text: string })[]
  progress: { call: string; text: string }[]
  over?: true
}

/** The state after a change, whose texts begin at the first difference from their earlier version. */
export function growState(was: LiveState | undefined, { type: _, speech, progress, ...change }: LiveTurn): LiveState {
  const before = (text: string | undefined, from: number) => (text ?? '').slice(0, from)
  return {
    ...change,
    speech: speech.map(({ from, text, ...about }) => ({
      ...about,
      text: before(was?.speech.find(({ part }) => part === about.part)?.text, from) + text,
    })),
    progress: progress.map(({ from, text, call }) => ({
      call,
      text: before(was?.progress.find((each) => each.call === call)?.text, from) + text,
    })),
  }
}

/** A block with a name that stays the same while the conversation grows at both ends. */
export type NamedBlock = { name: string; block: Block }

/**
 * The blocks of a conversation as the chat shows them: the stored entries, with the live text of running turns after the entry that it
 * belongs to. A stored entry replaces the live text that it contains.
 */
export function conversationBlocks(entries: readonly PlacedEntry[], live: Iterable<LiveState>): NamedBlock[] {
  let key = 0
  const { done, live: open } = blocksOfEntries(withLive(entries, live) as Entry[], () => key++)
  const counts = new Map<string, number>()
  return [...done, ...open].map((block) => {
    const entry = block.type === 'error' ? undefined : block.entry
    const kind = entry ?? `${block.turn} ${block.type}`
    const count = counts.get(kind) ?? 0
    counts.set(kind, count + 1)
    // The parts of an answer between its calls belong to the same entry.
    return { name: entry !== undefined && count === 0 ? entry : `${kind} ${count}`, block }
  })
}

function withLive(entries: readonly PlacedEntry[], live: Iterable<LiveState>): Event[] {
  const ended = new Set(entries.flatMap(({ entry }) => (entry.type === 'end' ? [entry.turn] : [])))
  const running = new Map([...live].filter(({ turn }) => !ended.has(turn)).map((state) => [state.turn, state]))
  if (running.size === 0) return entries.map(({ entry }) => entry)
  const settled = new Set(entries.flatMap(({ entry }) => (entry.type === 'result' ? [entry.call] : [])))
  const known = new Set<string>()
  const all = entries.flatMap(({ entry }): Event[] => {
    const state = running.get(entry.turn)
    if (!state) return [entry]
    const isFirst = !known.has(entry.turn)
    known.add(entry.turn)
    const place = { turn: entry.turn, session: entry.session, at: entry.at }
    const said = state.speech
      .filter(({ after }) => after === entry.id || (after === undefined && isFirst))
      .map(({ type, by, text }) => ({ ...place, type, by, delta: text }))
    const output =
      entry.type === 'call' && !settled.has(entry.call)
        ? state.progress
            .filter(({ call }) => call === entry.call)
            .map(({ call, text }) => ({ ...place, type: 'progress' as const, call, delta: text }))
        : []
    return [entry, ...output, ...said]
  })
  for (const { turn, plan, by } of running.values())
    if (plan && known.has(turn)) {
      const { session, at } = entries.at(-1)!.entry
      all.push({ type: 'plan', items: plan, by, turn, session, at } as Event)
    }
  return all
}
