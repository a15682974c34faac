import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '..', '..')

/** A fenced block of a page. `file`: the file that the page says it is, in a comment above the fence. */
export type Block = { language: string; text: string; line: number; file?: string }

/** One thing to run: a command of a page with its line, what is printed (in part), or a file that it needs. */
export type Step =
  | { is: 'command'; line: number; text: string }
  | { is: 'shown'; line: number; text: string }
  | { is: 'file'; line: number; text: string; file: string }

/** The pages with commands, by their path. Those below docs/reference are made from the code. */
export const pages = (): string[] => ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()]

export const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let open: (Block & { fence: string; indent: number }) | undefined
  let file: string | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const [, spaces = '', fence = '', language = ''] = /^( *)(`{3,})(\w*)\s*$/.exec(line) ?? []
    if (open && fence === open.fence && language === '') {
      blocks.push({
        language: open.language,
        text: open.text,
        line: open.line,
        ...(file === undefined ? {} : { file }),
      })
      open = file = undefined
    } else if (open) open.text += `${line.slice(open.indent)}\n`
    else if (fence !== '') open = { language, text: '', line: index + 1, fence, indent: spaces.length }
    else if (line.trim() !== '') file = /^<!-- file: (\S+) -->$/.exec(line.trim())?.[1]
  }
  return blocks
}

/** The steps of a page, in its order: commands line by line, and the commands of the workflows that it shows. */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = []
  let before: Block | undefined
  for (const block of blocksOf(text)) {
    const { language, line, file } = block
    if (file !== undefined) steps.push({ is: 'file', line, text: block.text, file })
    if (language === 'sh') steps.push(...commandsOf(block.text, line + 1))
    if (language === 'yaml' && /^jobs:/m.test(block.text))
      steps.push(...workflowRuns(block.text).flatMap((run) => commandsOf(run, line + 1)))
    if (language === 'text' && before?.language === 'sh') steps.push({ is: 'shown', line, text: block.text })
    before = block
  }
  return steps
}

/** The commands of a script, each with all of its lines: continued ones, here-documents, loops and conditions. */
function commandsOf(script: string, first: number): Step[] {
  const steps: Step[] = []
  let text = ''
  let line = first
  let ends: RegExp | undefined
  for (const [index, row] of script.split('\n').entries()) {
    if (text === '') line = first + index
    if (text === '' && (row.trim() === '' || row.trim().startsWith('#'))) continue
    text += `${row}\n`
    if (ends === undefined) {
      const here = /<<-?\s*'?(\w+)'?/.exec(row)?.[1]
      if (here !== undefined) ends = new RegExp(`^\\s*${here}$`)
      else if (/^\s*(?:for|while|until) /.test(row) && !/\bdone\b/.test(row)) ends = /^\s*done\b/
      else if (/^\s*if /.test(row) && !/\bfi\b/.test(row)) ends = /^\s*fi\b/
    } else if (ends.test(row)) ends = undefined
    if (ends !== undefined || /\\$/.test(row)) continue
    steps.push({ is: 'command', line, text })
    text = ''
  }
  return steps
}

/** The scripts of a GitHub workflow. */
function workflowRuns(text: string): string[] {
  const { jobs } = parse(text) as { jobs: Record<string, { steps: { run?: string }[] }> }
  return Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run }) => (run === undefined ? [] : [run])))
}

/** The first of the shown lines that the output does not have, in their order; `…` in a line stands for anything. */
export function missingLine(printed: string, shown: string): string | undefined {
  const rows = printed.split('\n').map((row) => row.trimEnd())
  let at = 0
  for (const line of shown.split('\n').map((row) => row.trimEnd())) {
    if (line === '' || line === '…') continue
    const pattern = new RegExp(`^${line.split('…').map(escaped).join('.*')}$`)
    const found = rows.findIndex((row, index) => index >= at && pattern.test(row))
    if (found < 0) return line
    at = found + 1
  }
  return undefined
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
