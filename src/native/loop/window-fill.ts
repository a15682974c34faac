import type { Entry } from '../../core/talk/entry.ts'
import type { Frame } from '../../core/work/model.ts'
import { entryTokens, estimateTokens } from '../../core/talk/tokens.ts'
import { entryText } from '../../core/talk/transcript.ts'
import { view } from '../../core/talk/view.ts'
import { changedName } from './context-changes.ts'

/** `of`: the named pieces of a part, if it has any. */
export type Part = { name: PartName; tokens: number; of?: { name: string; tokens: number }[] }

type PartName = 'system' | 'tools' | 'instructions' | 'skills' | 'summary' | 'messages' | 'tool outputs'

/** How a window is filled. Every part is estimated; `used` is the provider's last report, if there is one. */
export type Fill = { window: number; used: number; source: 'reported' | 'estimated'; free: number; parts: Part[] }

/** How much of an agent's input its provider read from its cache and wrote to it: in the last request, and in the session. */
export type CacheUse = { input: number; cached: number; written: number }

/** Sums the provider's reports about its cache; undefined if it has not reported anything. */
export function cacheUse(agent: string, entries: readonly Entry[]): { last: CacheUse; all: CacheUse } | undefined {
  const told = entries.flatMap((entry) =>
    entry.type === 'usage' && entry.by === agent && entry.source === 'reported'
      ? [{ input: entry.input, cached: entry.cached ?? 0, written: entry.written ?? 0 }]
      : [],
  )
  const last = told.at(-1)
  if (!last) return undefined
  const sum = (key: keyof CacheUse) => told.reduce((all, one) => all + one[key], 0)
  return { last, all: { input: sum('input'), cached: sum('cached'), written: sum('written') } }
}

/** Estimates how full an agent's window will be before the next prompt: the frame, and the view of a session's entries. */
export function fill(agent: string, frame: Frame, entries: readonly Entry[], window: number): Fill {
  const { system, instructions, skills } = sections(frame.system)
  const spoken = sortEntries(view(entries))
  const parts: Part[] = [
    part('system', [{ name: '', tokens: estimateTokens(system) }], false),
    part(
      'tools',
      frame.tools.map((tool) => ({ name: tool.name, tokens: estimateTokens(JSON.stringify(tool)) })),
    ),
    part('instructions', [...instructions, ...spoken.instructions]),
    part('skills', [...skills, ...spoken.skills]),
    part('summary', spoken.summary, false),
    part('messages', spoken.messages, false),
    part('tool outputs', spoken.outputs),
  ]
  const estimated = parts.reduce((sum, { tokens }) => sum + tokens, 0)
  const reported = lastReported(agent, entries)
  const used = reported ?? estimated
  const source = reported === undefined ? 'estimated' : 'reported'
  return { window, used, source, free: Math.max(0, window - used), parts }
}

type Piece = { name: string; tokens: number }

/** Sums the pieces of each name, largest first. */
function part(name: PartName, pieces: readonly Piece[], named = true): Part {
  const sums = new Map<string, number>()
  for (const { name, tokens } of pieces) sums.set(name, (sums.get(name) ?? 0) + tokens)
  const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0)
  if (!named || pieces.length === 0) return { name, tokens }
  return { name, tokens, of: [...sums].map(([name, tokens]) => ({ name, tokens })).sort((a, b) => b.tokens - a.tokens) }
}

const instructionFile = /<instructions path="([^"]*)">\n[^]*?\n<\/instructions>/g
const skillsBlock = /<skills>\n[^]*?\n<\/skills>/g

/** Splits a frame's text at the tags of its parts, which no file in it can close. */
function sections(text: string): { system: string; instructions: Piece[]; skills: Piece[] } {
  const instructions = [...text.matchAll(instructionFile)].map(([whole, path]) => piece(path!, whole))
  const without = text.replaceAll(instructionFile, '')
  const skills = [...without.matchAll(skillsBlock)].map(([whole]) => piece('list', whole))
  return { system: without.replaceAll(skillsBlock, ''), instructions, skills }
}

const piece = (name: string, text: string): Piece => ({ name, tokens: estimateTokens(text) })

function sortEntries(entries: readonly Entry[]) {
  const calls = new Map<string, string>()
  const none = (): Piece[] => []
  const found = { summary: none(), instructions: none(), messages: none(), outputs: none(), skills: none() }
  for (const entry of entries.filter(isSent)) {
    const tokens = entryTokens(entry)
    if (entry.type === 'call') calls.set(entry.call, entry.tool)
    if (entry.type === 'summary') {
      const guides = (entry.guides ?? []).map(({ name, text }) => piece(name, text))
      found.skills.push(...guides)
      found.summary.push({ name: '', tokens: guides.reduce((left, guide) => left - guide.tokens, tokens) })
    } else if (entry.type === 'guide') {
      const about = changedName(entry.name)
      if (about !== undefined) found.instructions.push({ name: about, tokens })
      else (entry.mark === undefined ? found.skills : found.messages).push({ name: entry.name, tokens })
    } else if (entry.type !== 'result') found.messages.push({ name: '', tokens })
    else found.outputs.push({ name: calls.get(entry.call) ?? 'unknown', tokens })
  }
  return found
}

const kept = new Set<Entry['type']>(['call', 'result', 'guide'])

const isSent = (entry: Entry) => kept.has(entry.type) || entryText(entry) !== ''

const since = new Set<Entry['type']>(['usage', 'prompt', 'result', 'summary', 'trim'])

/** The tokens of the agent's last request and its answer, unless something was added or left out since. */
function lastReported(agent: string, entries: readonly Entry[]): number | undefined {
  // The usage of a summary belongs to no turn, and to another window.
  const last = entries.findLast((entry) => since.has(entry.type) && (entry.type !== 'usage' || entry.turn !== ''))
  if (last?.type !== 'usage' || last.by !== agent || last.source !== 'reported') return undefined
  return last.input + last.output
}
