import type { EntryOf, Event } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Race, Racer } from '../core/talk/race.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { CopyResult } from '../hub/model/tasks/project-copy.ts'
import type { AppRecords } from '../turn/app.ts'
import type { TurnRequest } from '../app/turn.ts'
import { existsSync } from 'node:fs'
import { messageOf } from '../base/error-message.ts'
import { UsageError } from '../core/io.ts'
import { consentOptions } from '../core/talk/consent.ts'
import { failed } from '../core/talk/outcome.ts'
import { sizeWords } from '../hub/model/tasks/task-changes.ts'
import { asideWords, wordsOf } from './race-choice.ts'
import { checkWords, racerName, raceSentences, raceTable } from './race-report.ts'
import { orUsage } from '../turn/undo.ts'
import { runOpened } from '../app/turn.ts'
import { bringUndoably } from './race-turn.ts'

/** The results of a race are stored for a day. */
const keptMs = 24 * 60 * 60_000

/** The last race of this session. Throws a UsageError if this session has no race, or if its results were removed. */
export async function lastRace({ conversation, io }: AppRecords): Promise<EntryOf<'race'>> {
  const { entries } = await conversation.read()
  const race = entries.findLast((entry): entry is EntryOf<'race'> => entry.type === 'race')
  if (!race)
    throw new UsageError(
      'no agents have raced in this session yet. Begin with: race "fix the failing test" -a claude,codex',
      1,
    )
  if (io.clock.now() - race.at > keptMs)
    throw new UsageError('the results of the last race are gone: they are kept for a day. Race again for new ones.', 1)
  return race
}

/** Finds a racer by its number or by its agent's name. */
export function racerNamed({ racers }: Race, word: string): Racer {
  const found = racers.filter(({ racer, agent }) => String(racer) === word || agent === word)
  if (found.length === 1) return found[0]!
  const known = racers.map(({ racer, agent }) => `${racer} (${agent})`).join(', ')
  throw new UsageError(
    found.length === 0
      ? `no racer is called "${word}". The last race had: ${known}.`
      : `${word} raced more than once. Name the number: ${known}.`,
  )
}

/** The comparison of a race, or one of its results with its checks and changes. */
export async function shownRace({ snapshots }: AppRecords, race: Race, word?: string): Promise<string> {
  if (word === undefined) return [race.request, raceTable(race), raceSentences(race).join('\n')].join('\n\n')
  const racer = racerNamed(race, word)
  const { agent, files, checks, reply, folder, tree, why } = racer
  const changes =
    race.base !== undefined && tree !== undefined ? await orUsage(snapshots.copyChanges(race.base, tree)) : undefined
  return [
    `${racer.racer} ${agent}: ${files.length === 0 ? 'nothing changed' : sizeWords(files)}${why === undefined ? '' : ` (${why})`}`,
    ...(folder === undefined || !existsSync(folder) ? [] : [`Its copy of the project: ${folder}`]),
    ...checks.map((check) => (check.passed ? checkWords(check) : `${checkWords(check)}:\n${check.evidence}`)),
    reply,
    changes?.patch.trimEnd() ?? '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** Runs the turn that joins a result of an earlier race into the project. Undoing the turn removes the result again. */
export function runChoice(
  app: AppRecords,
  { signal, ask, peers, close, attended }: Omit<TurnRequest, 'prompt'>,
  { race, racer, undoWords }: { race: Race; racer: Racer; undoWords: string },
): AsyncGenerator<Event> {
  const prompt = `/race choose ${racer.racer}`
  const agent: Agent = {
    name: 'termaite',
    traits: { window: Infinity, memory: 'none', talks: true, steers: false },
    async *turn(turn) {
      let outcome: Outcome
      try {
        outcome = yield* chosen(turn)
      } catch (error) {
        outcome = failed('unmet', messageOf(error))
      }
      yield { type: 'end', outcome }
    },
    async close() {},
  }
  return runOpened(app, { prompt, peers, close }, async () => ({
    agent,
    world: {
      cwd: app.place.cwd,
      leash: 'edit',
      signal,
      ask,
      attended,
    },
  }))

  async function* chosen(turn: Turn): AsyncGenerator<Event, Outcome> {
    const whose = `${racerName(race, racer)}'s result`
    const bring = (over: readonly string[] = []): Promise<CopyResult> =>
      bringUndoably(app, turn, () => app.snapshots.bringIn({ base: race.base!, tree: racer.tree! }, { over }))
    let joined = await bring()
    if ('why' in joined && joined.conflicts?.length) {
      const again = await askOver(`${whose} cannot be brought in: ${joined.why}.`, joined.conflicts, turn)
      if (turn.signal.aborted) return failed('aborted', 'cancelled')
      if (again) joined = await bring(joined.conflicts)
    }
    if ('why' in joined)
      return failed(
        'unmet',
        `${whose} was not brought in: ${joined.why}. Nothing was changed. If another result is in the project already, undo it first: ${undoWords}`,
      )
    const done: Race = { ...race, chosen: racer.racer }
    const { type: _, ...results } = done
    yield { type: 'race', ...results }
    yield* wordsOf(race, racer.racer)
    const text = `${whose} was brought into the project (${sizeWords(racer.files)}). ${undoWords} takes it back.${asideWords(joined.aside)}`
    yield { type: 'reply', text }
    return { ok: true, text }
  }
}

/** Asks whether a result may replace files that changed since the race. */
async function askOver(why: string, conflicts: readonly string[], turn: Turn): Promise<boolean> {
  const picks = await turn.ask(
    {
      about: 'choice',
      agent: 'termaite',
      text: `${why} Replace these files with those of the result? Undo gives them back: ${conflicts.join(', ')}`,
      from: [],
      options: consentOptions({
        once: { id: 'over', label: 'Yes, replace them' },
        no: { id: 'no', label: 'No, change nothing' },
      }),
    },
    turn.signal,
  )
  return picks?.includes('over') ?? false
}

/** Throws if a result of a race can no longer be joined into the project. */
export function refuseWithoutResult(race: Race, racer: Racer): void {
  if (racer.state === 'done' && racer.files.length > 0 && race.base !== undefined && racer.tree !== undefined) return
  const why = racer.why ?? (racer.state === 'stopped' ? 'it was stopped' : 'it changed nothing')
  throw new UsageError(`${racerName(race, racer)} has no result that could be brought in: ${why}.`, 1)
}
