import type { Standing } from '../desk/chat-desk.ts'
import type { Theme } from '../style/theme.ts'
import type { Room } from '../transcript/blocks/transcript-view.ts'
import type { ChatState } from '../state/chat-state.ts'
import type { RenderContext } from '../transcript/markdown/render-context.ts'
import { keyOf } from '../desk/keys.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import { fit, wrapped } from '../style/screen-text.ts'
import { BlockRenderer } from '../transcript/blocks/block-renderer.ts'

/** With fewer rows the conversation needs the space of the large letters. */
const rowsForLargeLetters = 26

/** The name of the program and the next steps, in three lines; shrinks as blocks appear below. */
export function welcome(standing: Standing, theme: Theme, { width, height, below, spoken }: Room): string[] {
  const alone = below === 0
  // Without an agent the setup follows, which says what to do next.
  const steps = alone || (!spoken && standing.agents.length > 0) ? nextSteps(standing) : []
  const told = steps.flatMap((step) => wrapped(step, width)).map(theme.quiet)
  // If there is no space for both, only the name is shown.
  const words = told.length + 4 <= height ? told : []
  const others = 4 + words.length + below
  const rows = height >= rowsForLargeLetters ? largeLetters.length : spoken ? smallLetters.length : height - others
  const letters = lettersFor(width, alone ? rows : Math.max(smallLetters.length, rows))
  const block = [
    ...centred([theme.quiet('Welcome to')], width),
    ...(letters === largeLetters ? [''] : []),
    ...centred(letters.map(theme.accent), width),
    '',
    ...(words.length > 0 ? centred(words, width) : []),
    ...(alone || words.length === 0 ? [] : ['']),
  ]
  const above = alone ? Math.max(0, Math.floor((height - block.length) / 2)) : 0
  return [...Array.from({ length: above }, () => ''), ...block].map((line) => fit(line, width))
}

function nextSteps({ agents }: Standing): string[] {
  if (agents.length === 0)
    return [
      'No agent is set up yet. Three ways to begin:',
      '',
      '/setup         finds the agents on this machine, or says how to get one',
      '/connect       stores the API key of a provider, which /setup then uses',
      'termaite demo  shows termaite at work, in a shell and without an account',
    ]
  return [
    'Type what you want done, and press Enter.',
    `@ attaches a file, / shows the commands, ${keyOf('palette')} finds everything.`,
    `Esc cancels, ${keyOf('nextLeash')} changes what agents may do.`,
  ]
}

function lettersFor(width: number, height: number): readonly string[] {
  const fits = (letters: readonly string[]) =>
    Math.max(...letters.map((line) => line.length)) <= width && letters.length <= height
  if (fits(largeLetters)) return largeLetters
  return fits(smallLetters) ? smallLetters : ['TERMAITE']
}

/** Centres lines as one block, so that the letters stay above each other. */
function centred(lines: readonly string[], width: number): string[] {
  const widest = Math.max(...lines.map(visibleWidth))
  const margin = ' '.repeat(Math.max(0, Math.floor((width - widest) / 2)))
  return lines.map((line) => margin + line)
}

/** The letters were drawn in advance: a font at run time would delay the start more than the whole screen does. */
const largeLetters: readonly string[] = [
  '██████  ██████  █████   ██   ██   ████   ██  ██████  ██████',
  '  ██    ██      ██  ██  ███ ███  ██  ██  ██    ██    ██',
  '  ██    █████   █████   ███████  ██████  ██    ██    █████',
  '  ██    ██      ██ ██   ██ █ ██  ██  ██  ██    ██    ██',
  '  ██    ██████  ██  ██  ██   ██  ██  ██  ██    ██    ██████',
]

/** The name of the program for a window that is too small for the large letters. */
const smallLetters: readonly string[] = [
  '▀█▀ █▀▀ █▀▄ █▄ ▄█ ▄▀▄ █ ▀█▀ █▀▀',
  ' █  █▀  █▀▄ █ ▀ █ █▀█ █  █  █▀',
  ' ▀  ▀▀▀ ▀ ▀ ▀   ▀ ▀ ▀ ▀  ▀  ▀▀▀',
]

/** The last answer, which stays in the scrollback of the terminal. */
export function farewell({ done, live }: ChatState, context: RenderContext, columns: number): string {
  const isReply = (block: ChatState['done'][number]) => block.type === 'reply' && !block.live
  const reply = live.findLast(isReply) ?? done.findLast(isReply)
  if (!reply) return ''
  return `${new BlockRenderer().lines(reply, undefined, Math.max(20, columns), context, true).join('\r\n')}\x1b[0m\r\n`
}
