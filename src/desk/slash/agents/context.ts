import type { Command } from '../../../core/talk/command.ts'
import type { CacheUse, Fill, Part } from '../../../native/loop/window-fill.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { cacheUse, fill } from '../../../native/loop/window-fill.ts'
import { keptFrame } from '../../../native/loop/session-frame.ts'
import { foldersLine } from '../../../native/added-folders.ts'
import { UsageError } from '../../../core/io.ts'
import { languageServerLines } from '../../../native/native-diagnostics.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { windowOf } from '../../../settings/enabled-agents.ts'
import { list, table } from '../../../base/text/table.ts'
import { block } from '../shared/code-block.ts'
import { goingOn, knownWord } from '../shared/choice.ts'
import { nativeAgent } from '../shared/native-agent.ts'
import { nativeAgents } from '../../../settings/enabled-agents.ts'
import { sizeText } from '../conversation/compact-view.ts'

const width = 24
/** How many names of parts are listed. */
const mostNames = 3

export function contextCommand(controls: DeskControls): Command {
  const names = () => nativeAgents(controls.app().settings).map(({ name }) => name)
  return {
    name: 'context',
    words: '[agent]',
    help: 'Show what fills the agent’s window.',
    complete: (typed) => goingOn(typed, names()),
    async run(args, { say }) {
      const { conversation, blobs, native, place } = controls.app()
      const folders = native.folders.now
      const further = folders.length === 0 ? [] : [`Added folders: ${foldersLine(folders, place.cwd)}`]
      if (args.trim() !== '' && names().length === 0) nativeAgent(controls)
      const asked = args.trim() === '' ? undefined : knownWord('native agent', args.trim(), names())
      const { next } = controls.standing()
      const agent = nativeAgents(controls.app().settings).find(({ name }) => name === (asked ?? next))
      // A third-party CLI fills its window by itself, so only the conversation's part is known.
      if (!agent) return say([await sizeText(controls.app()), ...further].join('\n'), 'text')
      const { entries } = await conversation.read()
      const frame = await keptFrame(agent.name, entries, blobs)
      if (frame) {
        const filled = fillText(agent.name, fill(agent.name, frame, entries, windowOf(agent)))
        const lines = [
          filled,
          ...cacheText(cacheUse(agent.name, entries)),
          ...languageServerLines(controls.app().native),
          ...further,
        ]
        return say(lines.join('\n'), 'text')
      }
      if (asked !== undefined) throw new UsageError(`${asked} has not taken a turn in this session yet.`)
      const none = `${agent.name} has not taken a turn in this session yet.`
      say([none, await sizeText(controls.app()), ...further].join('\n'), 'text')
    },
  }
}

function fillText(name: string, { window, used, source, free, parts }: Fill): string {
  const rows = parts
    .filter(({ tokens }) => tokens > 0)
    .map((part) => [
      part.name,
      bar(part.tokens, window),
      groupDigits(part.tokens),
      share(part.tokens, window),
      madeOf(part),
    ])
  return [
    `${name}: ${groupDigits(used)} of ${groupDigits(window)} tokens are used (${source}), ${share(used, window)}.`,
    block(table([...rows, ['free', bar(free, window), groupDigits(free), share(free, window), '']])),
  ].join('\n')
}

/** Says how many tokens came from the provider's cache, which charges only part of the price. */
function cacheText(use: ReturnType<typeof cacheUse>): string[] {
  if (!use || use.last.input === 0) return []
  const words = ({ input, cached, written }: CacheUse) => {
    const wrote = written > 0 ? `, and ${groupDigits(written)} were written to it` : ''
    return `${groupDigits(cached)} of ${groupDigits(input)} input tokens were read from the provider's cache (${share(cached, input)})${wrote}`
  }
  return [`Last request: ${words(use.last)}.`, `This session: ${words(use.all)}.`]
}

/** A part that is not empty gets at least one cell of the bar. */
function bar(part: number, window: number): string {
  const full = part === 0 ? 0 : Math.min(width, Math.max(1, Math.round((part / window) * width)))
  return '█'.repeat(full) + '░'.repeat(width - full)
}

function madeOf({ of = [] }: Part): string {
  return of.length > 0
    ? list(
        of.map(({ name, tokens }) => `${name} ${groupDigits(tokens)}`),
        mostNames,
      )
    : ''
}

const share = (part: number, whole: number) => `${Math.round((part / whole) * 100)} %`
