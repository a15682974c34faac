import type { Block, Group } from '../block.ts'
import type { Look } from '../look.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { duration } from '../../numbers.ts'
import { brief } from '../brief.ts'
import { gist, tail } from '../gist.ts'
import { oneLine } from '../text.ts'

const marks = { running: '◌', ok: '✓', failed: '✗', stopped: '■' } as const

/** Those who are asked side by side stand below each other in columns, as long as there is room for columns. */
const columns = { role: 18, agent: 8, least: 60 }

/** A consulted agent in one line: as what it was asked, who it is, how it stands, and what it says. */
export function groupLine(group: Group, width: number, { theme }: Look): string {
  const paint = { running: theme.warn, ok: theme.good, failed: theme.bad, stopped: theme.quiet }[group.state]
  const who = group.by
  const calls = group.blocks.filter(({ type }) => type === 'call').length
  const padded = (word: string, to: number) =>
    width < columns.least ? word : word + ' '.repeat(Math.max(0, to - visibleWidth(word)))
  const role = padded(oneLine(group.role, 60), columns.role)
  const agent = who === undefined ? '' : theme.speaker(who)(padded(oneLine(who, 30), columns.agent))
  const rest = [
    group.ms === undefined ? '' : duration(group.ms),
    calls === 0 ? '' : `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    said(group),
  ].filter((word) => word !== '')
  const head = [`  ${paint(marks[group.state])} ${role}`, agent].filter((word) => word !== '').join('  ')
  const room = Math.max(0, width - visibleWidth(head) - 2)
  return `${head}  ${theme.quiet(truncateToWidth(rest.join(' · '), room, '…'))}`
}

function said({ state, blocks }: Group): string {
  const error = blocks.find((block) => block.type === 'error')
  if (error?.type === 'error') return oneLine(error.failure.message, 200)
  if (state === 'running') return doing(blocks.at(-1))
  const last = blocks.findLast((block) => block.type === 'reply')
  return last?.type === 'reply' ? gist(last.text) : ''
}

/** The last thing it did, as it is seen while it works. */
function doing(last: Block | undefined): string {
  switch (last?.type) {
    case 'reply':
    case 'thought':
      return tail(last.text)
    case 'call':
      return `${oneLine(last.tool, 60)} ${brief(last.input)}`.trimEnd()
    case 'attempt':
      return `${last.failure.kind}: ${oneLine(last.failure.message, 200)}`
    default:
      return ''
  }
}
