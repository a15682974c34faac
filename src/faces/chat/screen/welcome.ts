import { visibleWidth } from '@earendil-works/pi-tui'
import type { Standing } from '../desk.ts'
import type { Theme } from '../theme/theme.ts'
import { fit, wrapped } from '../transcript/text.ts'
import { largeLetters, smallLetters } from './letters.ts'

/** The first thing that anybody sees: the name, and what to do next in three lines. */
export function welcome(standing: Standing, theme: Theme, width: number, height: number): string[] {
  const steps = nextSteps(standing)
  const letters = lettersFor(width, height - steps.length - 4)
  const block = [
    ...centred([theme.quiet('Welcome to')], width),
    '',
    ...centred(letters.map(theme.accent), width),
    '',
    ...centred(steps.flatMap((step) => wrapped(step, width)).map(theme.quiet), width),
  ]
  const above = Math.max(0, Math.floor((height - block.length) / 2))
  return [...Array.from({ length: above }, () => ''), ...block].map((line) => fit(line, width))
}

function nextSteps({ agents }: Standing): string[] {
  if (agents.length === 0)
    return ['No agent is set up yet.', 'Type /agents to see which ones are installed', 'and how to get one.']
  return [
    'Type what you want done, and press Enter.',
    '@ attaches a file, / shows the commands, F1 finds everything.',
    'Esc cancels, Shift+Tab changes what agents may do.',
  ]
}

function lettersFor(width: number, height: number): readonly string[] {
  const fits = (letters: readonly string[]) =>
    Math.max(...letters.map((line) => line.length)) <= width && letters.length <= height
  if (fits(largeLetters)) return largeLetters
  return fits(smallLetters) ? smallLetters : ['TERMAITE']
}

/** Each block as a whole, so that letters stay above each other. */
function centred(lines: readonly string[], width: number): string[] {
  const widest = Math.max(...lines.map(visibleWidth))
  const margin = ' '.repeat(Math.max(0, Math.floor((width - widest) / 2)))
  return lines.map((line) => margin + line)
}
