import type { Block, GroupBlock } from '../block.ts'
import type { RenderContext } from '../render-context.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { roleLabel } from '../../../../core/talk/framework.ts'
import { duration } from '../../numbers.ts'
import { inputSummary } from '../call-input.ts'
import { oneLine } from '../screen-text.ts'
import { stateMark } from './call-lines.ts'
import { failureSentence } from '../../../../core/talk/outcome.ts'

/** The columns of consultations that stand below each other, used from the width `least` on. */
const columns = { role: 20, agent: 8, least: 60 }

/** A consultation in one line: its role, its agent, its state, and what the agent says. */
export function groupLine(group: GroupBlock, width: number, { theme }: RenderContext): string {
  const who = group.by
  const calls = group.blocks.filter(({ type }) => type === 'call').length
  const padded = (word: string, to: number) =>
    width < columns.least ? word : word + ' '.repeat(Math.max(0, to - visibleWidth(word)))
  const role = padded(oneLine(roleLabel(group.role), 60), columns.role)
  const agent = who === undefined ? '' : theme.speaker(who)(padded(oneLine(who, 30), columns.agent))
  const rest = [
    group.ms === undefined ? '' : duration(group.ms),
    calls === 0 ? '' : `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    said(group),
  ].filter((word) => word !== '')
  const head = [`  ${stateMark(group.state, theme)} ${role}`, agent].filter((word) => word !== '').join('  ')
  const room = Math.max(0, width - visibleWidth(head) - 2)
  return `${head}  ${theme.quiet(truncateToWidth(rest.join(' · '), room, '…'))}`
}

function said({ state, blocks }: GroupBlock): string {
  const error = blocks.find((block) => block.type === 'error')
  if (error?.type === 'error') return oneLine(error.failure.message, 200)
  if (state === 'running') return doing(blocks.at(-1))
  const last = blocks.findLast((block) => block.type === 'reply')
  return last?.type === 'reply' ? answerSummary(last.text) : ''
}

/** The last thing that a running consultation did. */
function doing(last: Block | undefined): string {
  switch (last?.type) {
    case 'reply':
    case 'thought':
      return latestWords(last.text)
    case 'call':
      return `${oneLine(last.tool, 60)} ${inputSummary(last.input)}`.trimEnd()
    case 'attempt':
      return oneLine(failureSentence(last.by ?? 'the agent', last.failure), 200)
    default:
      return ''
  }
}

/** The fields that say most in an answer that is JSON, as the agents are asked to name them. */
const tellingFields = ['name', 'summary', 'cause', 'task', 'why']

/** An answer in one line: what its JSON says where there is any, otherwise its first line. */
export function answerSummary(text: string): string {
  const told = nameIn(jsonIn(text), 4)
  return oneLine(told === '' ? (text.split('\n').find((line) => line.trim() !== '') ?? '') : told, 200)
}

/** The newest words of an answer that is still being written, without the punctuation of JSON. */
export function latestWords(text: string): string {
  const line = text.split('\n').findLast((each) => /\p{L}/u.test(each)) ?? ''
  return oneLine(line.slice(-400).replaceAll(/[{}[\]"`]+/g, ' '), 400).replaceAll(/ ([,:])/g, '$1')
}

function jsonIn(text: string): unknown {
  const fenced = [...text.matchAll(/^ *```(?:json)?[ \t]*\n([^]*?)\n *```/gm)].at(-1)?.[1]
  try {
    return JSON.parse(fenced ?? text)
  } catch {
    return undefined
  }
}

/** The name of an object, or the names in a list. */
function nameIn(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth === 0) return ''
  const within = (each: unknown) => nameIn(each, depth - 1)
  if (Array.isArray(value)) return value.slice(0, 12).map(within).filter(Boolean).join(', ')
  const named = tellingFields.map((key) => (value as Record<string, unknown>)[key])
  return [...named, ...Object.values(value)].map(within).find(Boolean) ?? ''
}
