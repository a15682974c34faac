import type { Block, Group, Speech } from './block.ts'
import type { Look } from './look.ts'
import { speaks } from './block.ts'
import { attemptLines, errorLines } from './blocks/failure.ts'
import { callLines } from './blocks/call.ts'
import { groupLine } from './blocks/group.ts'
import { closingLines, planLines, questionLines, toldLines, waitsLines } from './blocks/line.ts'
import type { Columns } from './markdown/prose.ts'
import { Prose } from './markdown/prose.ts'
import { promptMark } from './sides.ts'
import { bounded, fit, harmless, indented, oneLine, wrapped } from './text.ts'

/** A prompt that is longer is folded, like what was pasted into it. */
const promptLines = 20

/** A block on the screen. What grows is rendered from where it grew. */
export class Rendered {
  #prose = new Prose()

  /** Its lines behind the block before it; none is wider than the width. */
  lines(block: Block, before: Block | undefined, width: number, look: Look, open: boolean): string[] {
    const body = this.#body(block, width, look, open)
    if (body.length === 0) return body
    return [...lead(block, before, look), ...body].map((line) => fit(line, width))
  }

  forget(): void {
    this.#prose.forget()
  }

  #body(block: Block, width: number, look: Look, open: boolean): string[] {
    const { theme } = look
    switch (block.type) {
      case 'prompt':
      case 'steer':
        return prompted(block.text, width, look, open)
      case 'reply':
        return this.#markdown(block, width, look, 'wrapped')
      case 'thought':
        return thoughtLines(block, width, look, open)
      case 'call':
        return callLines(block, width, look, open)
      case 'attempt':
        return attemptLines(block, width, look, open)
      case 'error':
        return errorLines(block, width, look, open)
      case 'waits':
        return waitsLines(block, width, look)
      case 'note':
        return indented(wrapped(harmless(block.text), width - 2).map(theme.quiet), '  ', `${theme.quiet('·')} `)
      case 'question':
        return questionLines(block, width, look)
      case 'plan':
        return planLines(block, width, look)
      case 'group':
        return groupLines(block, width, look, open)
      case 'summary':
        return folded('≡', 'What was said before was summed up', block.text, width, look, open)
      case 'closing':
        return closingLines(block, width, look)
      case 'told':
        return block.how === 'text' ? this.#markdown(block, width, look, 'cut') : toldLines(block, width, look)
    }
  }

  #markdown(block: { text: string; more?: number }, width: number, look: Look, columns: Columns): string[] {
    const { text, rest } = bounded(block.text, block.more)
    const lines = this.#prose.render(harmless(text).trimStart(), Math.max(1, width - 2), look, columns)
    return indented(rest ? [...lines, look.theme.quiet(rest)] : lines, '  ')
  }
}

/** Room, and the name of whoever speaks when it is another one than before. */
function lead(block: Block, before: Block | undefined, { theme }: Look): string[] {
  if (!before) return named(block, before) ? [theme.speaker(block.by!)(`● ${oneLine(block.by!, 60)}`)] : []
  if (named(block, before)) return ['', theme.speaker(block.by!)(`● ${oneLine(block.by!, 60)}`)]
  const close = (each: Block) =>
    each.type === 'call' || each.type === 'thought' || (each.type === 'question' && speaks(each))
  const together =
    (close(block) && close(before)) ||
    block.type === 'closing' ||
    (block.type === before.type && ['note', 'attempt', 'group'].includes(block.type))
  return together ? [] : ['']
}

function named(block: Block, before: Block | undefined): boolean {
  if (!speaks(block)) return false
  return before === undefined || !speaks(before) || before.by !== block.by || before.turn !== block.turn
}

function prompted(text: string, width: number, { theme }: Look, open: boolean): string[] {
  const { text: shown, rest } = bounded(harmless(text).trim())
  const lines = wrapped(shown, width - 2)
  const most = open ? lines.length : promptLines
  const cut = lines.length > most ? `… ${lines.length - most} more lines` : rest
  const [first = '', ...others] = indented(lines.slice(0, most), '  ', '❯ ').map(theme.user)
  const body = [promptMark + first, ...others]
  return cut === undefined ? body : [...body, theme.quiet(`  ${cut}`)]
}

function thoughtLines(block: Speech, width: number, look: Look, open: boolean): string[] {
  const text = harmless(block.text.slice(open ? 0 : -2000)).trim()
  if (open) return folded('✻', 'thought', block.text, width, look, open)
  const line = text.split('\n').findLast((each) => each.trim() !== '') ?? ''
  return [look.theme.quiet(`  ✻ ${block.live ? 'thinking' : 'thought'} · ${oneLine(line, 300)}`)]
}

function folded(mark: string, title: string, text: string, width: number, { theme }: Look, open: boolean): string[] {
  const head = theme.quiet(`  ${mark} ${title}`)
  if (!open) return [head]
  const { text: shown, rest } = bounded(harmless(text).trim())
  const lines = wrapped(shown, width - 4)
  return [head, ...indented(rest ? [...lines, rest] : lines, '    ').map(theme.quiet)]
}

/** A consulted agent: one line, that opens to all it did. */
function groupLines(group: Group, width: number, look: Look, open: boolean): string[] {
  const head = groupLine(group, width, look)
  if (!open) return [head]
  const inside = group.blocks.flatMap((block, at) =>
    new Rendered().lines(block, group.blocks[at - 1], Math.max(1, width - 4), look, false),
  )
  // What another agent was asked is no prompt to jump to.
  return [
    head,
    ...indented(
      inside.map((line) => line.replace(promptMark, '')),
      '    ',
    ),
  ]
}
