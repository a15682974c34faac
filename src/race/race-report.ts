import type { Race, RaceCheck, Racer } from '../core/talk/race.ts'
import { table } from '../base/text/table.ts'
import { sizeWords } from '../hub/model/tasks/task-changes.ts'
import { firstLine } from '../think/prompt-text.ts'

/** Describes whether a check ran, and its result: "npm test fails". */
export function checkWords({ command, passed, refused }: RaceCheck): string {
  return `${firstLine(command, 60)} ${refused ? 'was not allowed to run' : passed ? 'passes' : 'fails'}`
}

/** The checks that really ran. */
export const known = (checks: readonly RaceCheck[]) => checks.filter(({ refused }) => !refused)

/** Whether every check that ran passes; undefined if no check ran. */
export function allPass(checks: readonly RaceCheck[]): boolean | undefined {
  const ran = known(checks)
  return ran.length === 0 ? undefined : ran.every(({ passed }) => passed)
}

/** The name of a racer in sentences; agents that race against themselves are named with their number. */
export function racerName({ racers }: Pick<Race, 'racers'>, { racer, agent }: Racer): string {
  return racers.filter((one) => one.agent === agent).length > 1 ? `${agent} (${racer})` : agent
}

/** The results side by side, with a row for the project before the race. */
function raceRows(race: Race): string[][] {
  const { before, racers } = race
  const judged = racers.some((one) => one.judged)
  const priced = racers.some(({ cost }) => cost !== undefined)
  const head = [
    '',
    'agent',
    'changes',
    'checks',
    ...(judged ? ['judge'] : []),
    'time',
    'tokens',
    ...(priced ? ['cost'] : []),
  ]
  const rows = racers.map((one) => [
    `${one.racer}${one.racer === race.winner ? ' *' : ''}`,
    one.agent,
    changeCell(one),
    checkCell(one),
    ...(judged ? [one.judged ? `place ${one.judged.place}` : ''] : []),
    secondsWords(one.ms),
    one.tokens === undefined ? '' : thousands(one.tokens),
    ...(priced ? [one.cost === undefined ? '' : dollars(one.cost)] : []),
  ])
  const untouched = ['', 'before', '', passWords(before), ...head.slice(4).map(() => '')]
  return [head, ...(before.length > 0 ? [untouched] : []), ...rows]
}

/** The results as aligned columns of plain text. */
export const raceTable = (race: Race) => table(raceRows(race))

/** The results as a table in Markdown, which a chat aligns to its width. */
export function raceMarkdown(race: Race): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const [head = [], ...rows] = raceRows(race)
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** A price in dollars. A price of less than half a cent is not shown as $0.00. */
const dollars = (cost: number) => (cost > 0 && cost < 0.005 ? '<$0.01' : `$${cost.toFixed(2)}`)

/** The whole comparison in Markdown. */
export const reportText = (race: Race) => `${raceMarkdown(race)}\n\n${raceSentences(race).join('\n')}`

function changeCell({ state, files, sameAs }: Racer): string {
  if (sameAs !== undefined) return `the same as ${sameAs}`
  if (state === 'stopped') return 'stopped'
  if (state === 'failed') return files.length === 0 ? 'no result' : `no result (${sizeWords(files)})`
  return files.length === 0 ? 'nothing changed' : sizeWords(files)
}

const checkCell = ({ state, checks }: Racer) => (state === 'done' ? passWords(checks) : '')

/** Formats the number of passed checks: "pass", "1 of 2 pass", "fail". */
function passWords(checks: readonly RaceCheck[]): string {
  const ran = known(checks)
  if (ran.length === 0) return checks.length === 0 ? '' : 'not allowed'
  const passed = ran.filter((check) => check.passed).length
  if (passed === ran.length) return 'pass'
  return passed === 0 ? 'fail' : `${passed} of ${ran.length} pass`
}

/** One sentence for each racer that the table does not fully describe, and one about the winner. */
export function raceSentences(race: Race): string[] {
  const { racers, winner, judge } = race
  const name = (one: Racer) => racerName(race, one)
  const without = racers.flatMap((one) =>
    one.state === 'failed' ? [`${name(one)} has no result: ${endSentence(one.why ?? 'the reason is not known')}`] : [],
  )
  const stopped = racers.filter(({ state }) => state === 'stopped')
  const same = racers.flatMap((one) => {
    const other = racers.find(({ racer }) => racer === one.sameAs)
    return other ? [`${name(one)} and ${name(other)} made exactly the same changes.`] : []
  })
  const denied = racers.flatMap((one) =>
    one.denials
      ? [`${name(one)} was not allowed: ${one.denials.map((denial) => firstLine(denial, 120)).join('; ')}.`]
      : [],
  )
  const stray = racers.flatMap((one) => {
    const strays = one.strays?.map(({ path, why }) => `${path} (${why})`).join(', ')
    return strays === undefined ? [] : [`${name(one)}'s result needs your yes, so it cannot be the best: ${strays}.`]
  })
  const judged = racers
    .filter((one) => one.judged && one.judged.why !== '')
    .toSorted((a, b) => a.judged!.place - b.judged!.place)
    .map((one) => `Judge (${judge}), place ${one.judged!.place}, ${name(one)}: ${endSentence(one.judged!.why)}`)
  const best = racers.find(({ racer }) => racer === winner)
  return [
    best ? `The best result is ${name(best)}'s (${best.racer}).` : sentence(noWinner(race)),
    ...judged,
    ...same,
    ...stray,
    ...denied,
    ...without,
    ...(stopped.length > 0
      ? [`Stopped, because another result was right first: ${stopped.map(name).join(', ')}.`]
      : []),
  ]
}

/** Why no result is the best, as a clause. */
export function noWinner({ racers, before }: Race): string {
  const done = racers.filter(({ state }) => state === 'done')
  if (done.length === 0) return 'no agent has a result'
  if (done.every(({ files }) => files.length === 0)) return 'no agent changed a file'
  if (known(before).length === 0) return 'no check and no judge could say which result is the best'
  const passing = done.filter(({ checks, files }) => allPass(checks) === true && files.length > 0)
  if (passing.length === 0) return 'no result passes the checks'
  return passing.every(({ strays }) => strays)
    ? 'no result passes the checks without changes that need your yes'
    : 'several results pass the checks, and no judge could say which is the best'
}

const sentence = (clause: string) => `${clause[0]!.toUpperCase()}${clause.slice(1)}.`

const endSentence = (text: string) => (/[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`)

export function secondsWords(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const thousands = (tokens: number) => (tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`)
