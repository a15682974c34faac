import type { Checkup } from './agent-checkup.ts'
import type { Examination } from './examination.ts'
import { list, oneLine } from '../../base/text/table.ts'
import { wordWrapped } from '../../base/text/word-wrap.ts'
import { languageLines } from './language-servers.ts'

/** The lines of the usual terminal, without those of the command, of the line that says who is asked, and of the next prompt. */
const rowsOfScreen = 21

/** The columns of the usual terminal. */
const usualColumns = 80

/**
 * The report that fits on one screen: problems first, each with the next step, then the agents that are ready. `rows` are those that
 * other lines have not taken; `more` says how the whole report is asked for.
 */
export function briefReport(
  found: Examination,
  { columns = usualColumns, taken = 0, more }: { columns?: number; taken?: number; more: string },
): string {
  const width = columns > 0 ? columns : usualColumns
  const below = [...standingLines(found), `More about each: ${more}`].flatMap((line) => rowsOf(line, width))
  const room = rowsOfScreen - taken - below.length - 1
  const problems = problemsOf(found).map((problem) => problemRows(problem, width))
  const shown = fitting(problems, room)
  const left = problemsOf(found).slice(shown.length)
  const rest =
    left.length === 0
      ? []
      : rowsOf(oneLine(`  and ${left.length} more: ${list(left.map(({ name }) => name))}`, 2 * (width - 10)), width)
  const above = [...shown.flat(), ...rest]
  return [...above, ...(above.length > 0 ? [''] : []), ...below].join('\n')
}

/** Everything that was found about each agent, the language servers and the sandbox. */
export function fullReport({ checkups, languages, sandbox }: Examination): string {
  return [
    checkups.map(agentReport).join('\n\n'),
    ...(languages ? ['', languageTitle, ...languageLines(languages)] : []),
    ...(sandbox.length > 0 ? ['', 'Sandbox on this machine:', ...sandbox.map((line) => `    ${line}`)] : []),
  ].join('\n')
}

/** Says which agents are asked. */
export const askedWords = (agents: readonly { name: string }[]): string =>
  agents.length === 1 ? `Asking ${agents[0]!.name} for one word` : `Asking ${agents.length} agents for one word each`

const languageTitle = 'Language servers, which tell termaite’s own agent the errors after an edit:'

type Problem = { mark: '✗' | '!'; name: string; wrong: string; next: string }

function problemsOf({ checkups, noSandbox, sandbox }: Examination): Problem[] {
  const broken = checkups.filter(({ enabled, works }) => enabled && !works)
  const [without] = sandbox
  return [
    ...(noSandbox === undefined || without === undefined ? [] : [sandboxProblem(noSandbox)]),
    ...broken.filter(({ parked }) => !parked).map(problemOf),
    ...broken.filter(({ parked }) => parked).map(problemOf),
  ]
}

/** The reason often says at its end what helps, so it is the next step too. */
const sandboxProblem = (none: string): Problem => ({
  mark: '!',
  name: 'sandbox',
  wrong: 'this machine has no sandbox',
  next: `${none.replace(/\.$/, '')}; what protects instead: termaite doctor --security`,
})

function problemOf({ name, installed, answers, loggedIn, parked, away, said, next, key }: Checkup): Problem {
  if (parked && installed !== false)
    return {
      mark: '!',
      name,
      wrong: away ?? 'out of quota',
      next: `it takes turns again after that; to ask it now: termaite doctor ${name}`,
    }
  const wrong =
    installed === false
      ? 'not installed'
      : answers === false
        ? `does not answer: ${said ?? 'it said nothing'}`
        : loggedIn === false
          ? key === undefined
            ? installed === 'built in'
              ? 'its model cannot be used'
              : 'not logged in'
            : `cannot use its key from ${key}`
          : 'takes no turns'
  return { mark: '✗', name, wrong, next: next ?? `start it by itself to see more, then: termaite doctor ${name}` }
}

/** The agents that are ready or switched off, and the parts of the machine that work. */
function standingLines({ checkups, languages, noSandbox, sandbox }: Examination): string[] {
  const named = (agents: readonly Checkup[]) => oneLine(list(agents.map(({ name }) => name)), 150)
  const ready = checkups.filter(({ works }) => works)
  const asked = ready.some(({ answers }) => answers === true)
  const off = checkups.filter(({ enabled }) => !enabled)
  const found = languages?.filter(({ state }) => state === 'found' || state === 'not trusted') ?? []
  return [
    ready.length === 0
      ? '✗ No agent is ready.'
      : `✓ ${asked ? 'Ready' : 'Ready, as far as can be seen without asking'}: ${named(ready)}`,
    ...(off.length > 0 ? [`○ Switched off: ${named(off)}`] : []),
    ...(noSandbox === undefined && sandbox.length > 0 ? ['✓ Sandbox: works on this machine'] : []),
    ...(languages
      ? [
          found.length > 0
            ? `✓ Language servers: ${found.map(({ language }) => language).join(', ')}`
            : '○ Language servers: none installed',
        ]
      : []),
  ]
}

const indent = '    '

/** The end of a message often says when it is over, so the message may have a second row. */
function problemRows({ mark, name, wrong, next }: Problem, width: number): string[] {
  const inner = width - 2
  return [
    ...rowsOf(oneLine(`${name}: ${wrong}`, 2 * (inner - 10)), inner).map(
      (row, at) => `${at === 0 ? mark : ' '} ${row}`,
    ),
    ...rowsOf(`${indent}→ ${oneLine(next, 2 * (width - indent.length - 4))}`, width),
  ]
}

const rowsOf = (line: string, width: number) => wordWrapped(line, width).split('\n')

/** The first problems that fit into the room, with two rows for the names of the others if not all of them do. */
function fitting(problems: readonly string[][], room: number): string[][] {
  if (problems.flat().length <= room) return [...problems]
  let left = room - 2
  return problems.slice(
    0,
    problems.findIndex(({ length }) => (left -= length) < 0),
  )
}

function agentReport(checkup: Checkup): string {
  const rows = [
    ['installed', `${checkup.installed || 'no'}${checkup.version ? ` (${checkup.version})` : ''}`],
    ['logged in', checkup.loggedIn === 'unknown' ? 'not known' : checkup.loggedIn ? 'yes' : 'no'],
    ...(checkup.key ? [['key', checkup.key]] : []),
    ['answers', checkup.answers === 'not asked' ? 'not asked' : checkup.answers ? 'yes' : `no: ${checkup.said ?? ''}`],
    ['quota', checkup.quota],
    ['MCP', checkup.mcp],
    ['may do', checkup.mayDo],
    ...(checkup.next ? [['next', checkup.next]] : []),
  ]
  const mark = !checkup.enabled ? '○' : checkup.works ? '✓' : checkup.parked ? '!' : '✗'
  return [
    `${mark} ${checkup.name}${checkup.enabled ? '' : ' (switched off)'}`,
    ...rows.map(([name, words]) => `    ${name!.padEnd(10)} ${words}`),
  ].join('\n')
}
