import type { AgentRow, Block, SpeechBlock } from '../block.ts'
import type { Columns } from '../markdown/markdown.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import { handoffLines } from '../handoff-lines.ts'
import { stripTerminalSequences } from '@earendil-works/pi-tui'
import { cutWords } from '../../../core/talk/shown-words.ts'
import { isAgentSpeech, isGrowing } from '../block.ts'
import {
  attemptLines,
  errorLines,
  closingLines,
  planLines,
  questionLines,
  commandLines,
  waitLines,
} from './turn-lines.ts'
import { isPersonCommand } from '../../../core/talk/entry.ts'
import { callLines } from './call-lines.ts'
import { commandOutputLines } from './command-output-lines.ts'
import { boardLines } from './board-lines.ts'
import { Prose } from '../markdown/markdown.ts'
import { bounded, safeText, oneLine } from '../../style/safe-text.ts'
import { GrowingLines, fit, indented, promptMark, wrapped } from '../../style/screen-text.ts'

/** A text whose beginning or end may be missing. */
type SpokenText = Pick<SpeechBlock, 'text' | 'dropped' | 'more'>

/** Lines of a prompt that are shown before it is folded. */
const mostPromptLines = 20

/** Renders one block. Of a growing text only the new part is rendered; for a complete block nothing is cached. */
export class BlockRenderer {
  #prose = new Prose()
  #indented = new GrowingLines()
  #fitted = new GrowingLines()

  /** The row of a board that each line of the last rendering belongs to, -1 if it belongs to no row; empty for other blocks. */
  rowKeys: readonly number[] = []

  /** The lines of a block that follows `before`; none is wider than `width`. `isOpen` opens the rows of a board one by one. */
  lines(
    block: Block,
    before: Block | undefined,
    width: number,
    context: RenderContext,
    open: boolean,
    isOpen: (key: number) => boolean = () => open,
  ): string[] {
    this.rowKeys = []
    const body = this.#body(block, width, context, open, isOpen)
    const above = body.length === 0 ? [] : lead(block, before, context)
    const all = [...above, ...body]
    if (this.rowKeys.length > 0) this.rowKeys = [...above.map(() => -1), ...this.rowKeys]
    const lines = this.#fitted.map(all, width, (line) => fit(line, width))
    if (!isGrowing(block)) this.forget()
    return lines
  }

  forget(): void {
    this.#prose.forget()
    this.#indented.forget()
    this.#fitted.forget()
  }

  #body(
    block: Block,
    width: number,
    context: RenderContext,
    open: boolean,
    isOpen: (key: number) => boolean,
  ): string[] {
    const { theme } = context
    switch (block.type) {
      case 'prompt':
      case 'steer':
        return promptLines(block.text, width, context, open)
      case 'reply': {
        const handoff = isGrowing(block) || block.more !== undefined ? undefined : handoffLines(block.text)
        const said = handoff === undefined ? block : { ...block, text: handoff }
        const lines = this.#markdown(said, width, context, 'wrapped')
        // The line of the attempt below says what happened.
        if (block.failed) return lines.map((line) => theme.quiet(stripTerminalSequences(line)))
        return block.cut ? [...lines, theme.quiet(`  (${cutWords[block.cut]})`)] : lines
      }
      case 'thought':
        return thoughtLines(block, width, context, open)
      case 'call':
        return isPersonCommand(block)
          ? commandOutputLines(block, width, context, open)
          : callLines(block, width, context, open)
      case 'attempt':
        return attemptLines(block, width, context, open)
      case 'error':
        return errorLines(block, width, context, open)
      case 'waits':
        return waitLines(block, width, context)
      case 'note':
        return indented(wrapped(safeText(block.text), width - 2).map(theme.quiet), '  ', `${theme.quiet('·')} `)
      case 'question':
        return questionLines(block, width, context)
      case 'plan':
        return planLines(block, width, context)
      case 'board': {
        const inside = (row: AgentRow) => rowInside(row, width, context)
        const { lines, keys } = boardLines(block, width, context, isOpen, inside)
        this.rowKeys = keys
        return lines
      }
      case 'summary':
        return folded('≡', block.title, block.text, width, context, open)
      case 'closing':
        return closingLines(block, width, context)
      case 'told':
        if (block.how === 'aside') return this.#aside(block, width, context)
        return block.how === 'text' ? this.#markdown(block, width, context, 'cut') : commandLines(block, width, context)
    }
  }

  /** An answer beside the work, under its title: dimmed, so that nobody takes it for a part of the conversation. */
  #aside({ text }: SpokenText, width: number, context: RenderContext): string[] {
    const { quiet } = context.theme
    const [title = '', ...answer] = text.split('\n')
    const lines = this.#markdown({ text: answer.join('\n') }, Math.max(1, width - 2), context, 'cut')
    return [
      ...wrapped(safeText(title), width - 4).map((line) => quiet(context.theme.strong(`  ┆ ${line}`))),
      ...lines.map((line) => quiet(`  ┆ ${stripTerminalSequences(line).replace(/^ {2}/, '')}`.trimEnd())),
    ]
  }

  #markdown(block: SpokenText, width: number, context: RenderContext, columns: Columns): string[] {
    const { quiet } = context.theme
    const { text, rest } = bounded(block.text, block.more)
    const lines = this.#prose.render(safeText(text).trimStart(), Math.max(1, width - 2), context, columns)
    const above =
      block.dropped === undefined ? [] : [quiet(`… the first ${block.dropped} characters are not shown here`)]
    const all = [...above, ...lines, ...(rest ? [quiet(rest)] : [])]
    return this.#indented.map(all, width, (line, at) => (at > 0 && line === '' ? '' : `  ${line}`))
  }
}

/** An empty line, and the agent's name if another agent spoke before. */
function lead(block: Block, before: Block | undefined, { theme }: RenderContext): string[] {
  const speaker = newSpeaker(block, before)
  const name = speaker === undefined ? [] : [theme.speaker(speaker)(`● ${oneLine(speaker, 60)}`)]
  if (!before) return name
  if (name.length > 0) return ['', ...name]
  const close = (each: Block) =>
    each.type === 'call' || each.type === 'thought' || (each.type === 'question' && isAgentSpeech(each))
  const together =
    (isPersonCommand(block) && before.type === 'prompt' && before.turn === block.turn) ||
    (close(block) && close(before)) ||
    block.type === 'closing' ||
    (block.type === before.type && ['note', 'attempt', 'board'].includes(block.type))
  return together ? [] : ['']
}

/** The agent of a block, unless the block before it belongs to the same agent and turn. */
function newSpeaker(block: Block, before: Block | undefined): string | undefined {
  if (!isAgentSpeech(block)) return undefined
  const goesOn = before && isAgentSpeech(before) && before.by === block.by && before.turn === block.turn
  return goesOn ? undefined : block.by
}

function promptLines(text: string, width: number, { theme }: RenderContext, open: boolean): string[] {
  const { text: shown, rest } = bounded(safeText(text).trim())
  const lines = wrapped(shown, width - 2)
  const most = open ? lines.length : mostPromptLines
  const cut = lines.length > most ? `… ${lines.length - most} more lines` : rest
  const [first = '', ...others] = indented(lines.slice(0, most), '  ', '❯ ').map(theme.user)
  const body = [promptMark + first, ...others]
  return cut === undefined ? body : [...body, theme.quiet(`  ${cut}`)]
}

function thoughtLines(block: SpeechBlock, width: number, context: RenderContext, open: boolean): string[] {
  const text = safeText(block.text.slice(open ? 0 : -2000)).trim()
  if (open) return folded('✻', 'thought', block.text, width, context, open)
  const line = text.split('\n').findLast((each) => each.trim() !== '') ?? ''
  return [context.theme.quiet(`  ✻ ${block.live ? 'thinking' : 'thought'} · ${oneLine(line, 300)}`)]
}

function folded(
  mark: string,
  title: string,
  text: string,
  width: number,
  { theme }: RenderContext,
  open: boolean,
): string[] {
  const head = indented(wrapped(safeText(title).trim(), width - 4), '    ', `  ${mark} `).map(theme.quiet)
  if (!open) return head
  const { text: shown, rest } = bounded(safeText(text).trim())
  const lines = wrapped(shown, width - 4)
  return [...head, ...indented(rest ? [...lines, rest] : lines, '    ').map(theme.quiet)]
}

/** Everything that an agent inside a turn did. */
function rowInside({ blocks }: AgentRow, width: number, whole: RenderContext): string[] {
  const context = { ...whole, brief: true as const }
  const lines = blocks.flatMap((block, at) =>
    new BlockRenderer().lines(block, blocks[at - 1], Math.max(1, width - 4), context, false),
  )
  // The prompt of such an agent is not marked: terminals jump only to the person's prompts.
  return indented(
    lines.map((line) => line.replace(promptMark, '')),
    '    ',
  )
}
