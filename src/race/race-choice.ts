import type { Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Option, Question, Shown } from '../core/talk/question.ts'
import type { Race, Racer } from '../core/talk/race.ts'
import type { Turn } from '../core/work/agent.ts'
import type { CopyJoin, CopyResult } from '../hub/model/tasks/project-copy.ts'
import type { RacerRun } from './racer-run.ts'
import { defined } from '../base/defined.ts'
import { shownPatch } from '../core/work/diff-sides.ts'
import { failed } from '../core/talk/outcome.ts'
import { sizeWords } from '../hub/model/tasks/task-changes.ts'
import { allPass, checkWords, known, noWinner, racerName, raceSentences, raceTable, reportText } from './race-report.ts'

/** The functions by which a result is chosen and joined into the project. */
export type ChoiceParts = {
  /** Whether the winner is joined without a question. */
  apply?: boolean
  /** Joins a result into the project so that it can be undone. */
  bringIn(run: RacerRun, what: CopyJoin, turn: Turn): Promise<CopyResult>
  /** How a person can show a result, choose one later, and undo it, as commands of the interface in which the race runs. */
  says: { show(racer: number): string; choose(racer: number): string; undo: string }
}

/** How a race ended, and the racer whose result was joined into the project. */
export type RaceEnd = { outcome: Outcome; chosen?: number }

/** Lets the person choose, or takes the winner, and joins the chosen result into the project. */
export async function* chosenResult(
  parts: ChoiceParts,
  race: Race,
  runs: readonly RacerRun[],
  turn: Turn,
): AsyncGenerator<Event, RaceEnd> {
  const able = runs.filter(({ hasResult }) => hasResult)
  let trouble: Trouble | undefined
  let pick: Pick | undefined = parts.apply && race.winner !== undefined ? { racer: race.winner } : undefined
  for (;;) {
    pick ??= able.length === 0 ? undefined : await asked(parts, race, able, trouble, turn)
    if (turn.signal.aborted) return { outcome: failed('aborted', 'cancelled') }
    if (!pick) break
    const run = able.find(({ racer }) => racer === pick!.racer)!
    const what = defined({ changes: run.changes, over: pick.over })
    const joined = await parts.bringIn(run, what, turn)
    if ('files' in joined) {
      const done: Race = { ...race, chosen: run.racer }
      yield done
      yield* wordsOf(done, run.racer)
      const text = `${reportText(done)}\n\n${broughtText(done, run, parts, joined.aside)}`
      yield { type: 'reply', text }
      return { outcome: { ok: true, text }, chosen: run.racer }
    }
    trouble = { run, why: joined.why, conflicts: joined.conflicts ?? [] }
    pick = undefined
  }
  return { outcome: yield* unsettled(parts, race, able, trouble) }
}

/** A result that could not be joined, and the files that were changed on both sides. */
type Trouble = { run: RacerRun; why: string; conflicts: readonly string[] }

/** `over`: files of the project that the result replaces although they have changed since. */
type Pick = { racer: number; over?: readonly string[] }

async function* unsettled(
  { says }: ChoiceParts,
  race: Race,
  able: readonly RacerRun[],
  trouble: Trouble | undefined,
): AsyncGenerator<Event, Outcome> {
  const [best] = able.toSorted((a, b) => Number(b.racer === race.winner) - Number(a.racer === race.winner))
  const how = best
    ? `Nothing was brought into the project. To look at a result: ${says.show(best.racer)}. To bring one in: ${says.choose(best.racer)}. The results are kept for a day.`
    : answersText(race)
  const why = trouble && `${racerName(race, trouble.run.result)}'s result was not brought in: ${trouble.why}.`
  const text = [reportText(race), ...(why === undefined ? [] : [why]), how].filter((part) => part !== '').join('\n\n')
  yield { type: 'reply', text }
  if (why !== undefined)
    return failed('unmet', `${why} Nothing was changed, and the result is kept: ${says.show(trouble!.run.racer)}`)
  const isRight = best ? isOpenChoice : passes
  if (race.winner === undefined && known(race.before).length > 0 && !race.racers.some(isRight))
    return failed('unmet', noWinner(race))
  return { ok: true, text }
}

/** Whether a result passes its checks and could be chosen when no agent said which of several is the best. */
const isOpenChoice = ({ checks, files, strays }: Racer) => allPass(checks) === true && files.length > 0 && !strays

/** Whether an answer is right in a race in which no agent changed a file: its checks still pass, and the request was only a question. */
const passes = ({ checks }: Racer) => allPass(checks) === true

/** The answers of agents that changed nothing, because the request was a question. */
function answersText({ racers }: Race): string {
  return racers
    .filter(({ reply }) => reply !== '')
    .map(({ racer, agent, reply }) => `${racer} ${agent}:\n\n${reply}`)
    .join('\n\n')
}

function broughtText(
  race: Race,
  { racer, changes }: RacerRun,
  { says }: ChoiceParts,
  aside: string | undefined,
): string {
  const chosen = race.racers.find((one) => one.racer === racer)!
  const others = race.racers.filter((one) => one.folder !== undefined && one.racer !== racer && one.state === 'done')
  const kept =
    others.length === 0
      ? ''
      : ` The other results are kept for a day: ${others.map((one) => says.show(one.racer)).join(', ')}.`
  return `${racerName(race, chosen)}'s result was brought into the project (${sizeWords(changes!.files)}). ${says.undo} takes it back.${asideWords(aside)}${kept}`
}

/** The text of the agent whose result was chosen: it is the agent's answer, for the person and for later turns. */
export function* wordsOf({ racers }: Race, chosen: number): Generator<Event> {
  const { agent: by, reply: text } = racers.find(({ racer }) => racer === chosen)!
  if (text !== '') yield { type: 'reply', text, by }
}

/** Says which folder holds the person's own versions of files that a result replaced. */
export const asideWords = (aside: string | undefined): string =>
  aside === undefined ? '' : ` Your own versions of the files that it replaced are in ${aside}.`

/** How many lines of each diff the card shows; a command shows the rest. */
const mostLines = 120

async function asked(
  { says }: ChoiceParts,
  race: Race,
  able: readonly RacerRun[],
  trouble: Trouble | undefined,
  turn: Turn,
): Promise<Pick | undefined> {
  const resultOf = (run: RacerRun) => race.racers.find(({ racer }) => racer === run.racer)!
  const labels = able.map((run): Option => {
    const one = resultOf(run)
    const parts = [
      sizeWords(one.files),
      ...one.checks.map(checkWords),
      ...(one.sameAs === undefined ? [] : [`the same as ${one.sameAs}`]),
    ]
    const best = one.racer === race.winner ? ' (best)' : ''
    return { id: String(one.racer), label: `${racerName(race, one)}: ${parts.join(', ')}${best}` }
  })
  const over: Option[] =
    trouble && trouble.conflicts.length > 0
      ? [
          {
            id: 'over',
            label: `Bring in ${racerName(race, trouble.run.result)}'s and replace what changed meanwhile in ${trouble.conflicts.join(', ')} (undo gives it back)`,
          },
        ]
      : []
  const diffs = able
    .filter((run) => resultOf(run).sameAs === undefined)
    .flatMap((run): Shown[] => [
      { type: 'text', text: `Result ${run.racer} (${run.agent}):` },
      ...shownChanges(run, says),
    ])
  const text = trouble
    ? `${racerName(race, trouble.run.result)}'s result was not brought in: ${trouble.why}. Nothing was changed. Which result is brought into the project?`
    : 'Which result is brought into the project?'
  const question: Question = defined<Question>({
    about: 'choice',
    agent: 'termaite',
    text,
    from: [],
    shows: [{ type: 'text', text: `${raceTable(race)}\n\n${raceSentences(race).join('\n')}` }, ...diffs],
    options: [...labels, ...over, { id: 'none', label: 'None, leave the project as it is' }],
    enter: race.winner === undefined ? undefined : String(race.winner),
    escape: 'none',
  })
  const [picked] = (await turn.ask(question, turn.signal)) ?? []
  if (picked === 'over' && trouble) return { racer: trouble.run.racer, over: trouble.conflicts }
  const found = able.find(({ racer }) => String(racer) === picked)
  return found && { racer: found.racer }
}

function shownChanges({ racer, changes }: RacerRun, says: ChoiceParts['says']): Shown[] {
  const lines = (changes?.patch ?? '').trimEnd().split('\n')
  const shown = shownPatch(lines.slice(0, mostLines).join('\n'))
  const more = lines.length - mostLines
  return more > 0 ? [...shown, { type: 'text', text: `… ${more} more lines: ${says.show(racer)}` }] : shown
}
