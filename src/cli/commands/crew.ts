import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Crews, OpenCrew } from '../../crew/machine/crews.ts'
import type { Unanswered } from '../../crew/artifact.ts'
import { join } from 'node:path'
import { CrewError, EarlyError, isLiving, mayAnswer, nameOf } from '../../crew/slot.ts'
import { unansweredWords } from '../../crew/artifact.ts'
import { scrapedWords } from '../../core/talk/outcome.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { answer } from '../../desk/crew/crew-answer.ts'
import { callVerb } from '../../desk/crew/crew-call.ts'
import { attach } from '../../desk/crew/crew-attach.ts'
import { openCrews } from '../../crew/machine/crews.ts'
import { brokenFiles } from '../../crew/machine/crew-workspaces.ts'
import { endTerminals, loneTerminals, strayWords } from '../../crew/machine/stray-terminals.ts'
import { ensureKeeper, keepCrew } from '../../crew/machine/crew-keeper.ts'
import { entriesOf, logWords } from '../../crew/machine/crew-log.ts'
import { crewTable } from '../../desk/crew/crew-table.ts'
import { noMore, slotOf, toolVerbs } from '../../desk/crew/crew-verbs.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { listedTime, print, say, UsageError } from '../../core/io.ts'
import { placeOf } from '../../home/place.ts'
import { noteProcess } from '../../border/running-processes.ts'
import { readSettings } from '../../settings/settings.ts'
import { noAgentForCrew } from '../../crew/machine/crew-roster.ts'
import { exit } from '../../core/exit-codes.ts'

type OpenedCrew = { io: Io; place: Place; settings: Settings; crews: Crews; open: OpenCrew; values: Parsed['values'] }

/** Verbs for people, which MCP clients do not get as tools. */
const verbs: Record<string, (desk: OpenedCrew, words: readonly string[]) => Promise<number>> = {
  list,
  spawn,
  // A question whose process died is asked again by a new keeper, so a keeper must run first.
  answer: async ({ io, place, open }, words) => (await ensureKeeper(io, place, open), answer(io, open.crew, words)),
  attach: ({ io, open }, words) => attach(io, open, words),
  watch,
  logs,
  close,
  keep,
}

export async function run(io: Io, { values, words: [verb = 'list', ...words] }: Parsed): Promise<number> {
  const known = Object.hasOwn(verbs, verb) || Object.hasOwn(toolVerbs, verb)
  if (!known) throw new UsageError(`crew: there is no command "${verb}". See: termaite crew --help`)
  if (values.server !== undefined) return far(io, values, verb, words)
  const place = placeOf(io, typeof values.cwd === 'string' ? values.cwd : undefined)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const workspace = typeof values.workspace === 'string' ? values.workspace : undefined
  const crews = openCrews(io, place, settings, { carries: verb === 'keep', warn: (why) => say(io, `termaite: ${why}`) })
  try {
    const desk = { io, place, settings, crews, open: crews.of(workspace), values }
    if (verb !== 'keep') await tellBroken(desk)
    const own = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    return await (own ? own(desk, words) : call(desk, verb, words))
  } catch (error) {
    throw error instanceof CrewError
      ? new UsageError(error.message, error instanceof EarlyError ? exit.later : exit.failed)
      : error
  } finally {
    await crews.close()
  }
}

/**
 * Reports each damaged crew file that was set aside, once. Usually a keeper sets them aside, and nobody reads its messages; agents named
 * in such a file may still run.
 */
async function tellBroken({ io, place, open: { parts } }: OpenedCrew): Promise<void> {
  const { store, workspace } = parts
  const broken = brokenFiles(place.home, workspace)
  if (broken.length === 0) return
  const told = store.doc<string[]>(`crew/${workspace}/told`, [])
  const known = await told.read()
  for (const name of broken.filter((one) => !known.includes(one)))
    say(
      io,
      `termaite: ${join(place.home, 'crew', workspace, name)} is a damaged file that was set aside. Agents that it named may still run: termaite ps lists them, and termaite crew close ends them.`,
    )
  await told.update(() => broken)
}

/** Attaches to a terminal of any machine, through a hub. */
async function far(io: Io, values: Parsed['values'], verb: string, words: readonly string[]): Promise<number> {
  if (verb !== 'attach') throw new UsageError(`crew ${verb}: --server is for crew attach alone.`)
  const [word, ...more] = words
  noMore('attach', more)
  const { home } = placeOf(io)
  const settings = await readSettings({ home }, { env: io.env })
  const [{ hubPlace }, { attachFar }] = await Promise.all([
    import('../../hub/client/hub-address.ts'),
    import('../../desk/crew/far-attach.ts'),
  ])
  const crew = typeof values.workspace === 'string' ? values.workspace : undefined
  return attachFar(io, hubPlace(io, settings, String(values.server)), { word, crew })
}

/** Runs the crew's agents in a separate process, the keeper; `ensureKeeper` starts it. */
async function keep({ io, place, crews, open }: OpenedCrew): Promise<number> {
  const { workspace } = open.crew
  const unnote = noteProcess(place.home, { process: 'keeper', project: place.cwd, about: workspace }, io.clock)
  await keepCrew(io, crews, workspace)
  unnote()
  return 0
}

/** Runs a verb that is also an MCP tool. The keeper process finishes work that the tool started. */
async function call(desk: OpenedCrew, verb: string, words: readonly string[]): Promise<number> {
  const { text, data } = await callVerb(desk, verb, words, desk.values)
  const { io, values } = desk
  if (io.signal.aborted) return Number(io.signal.reason)
  if (verb === 'artifact' && 'earlier' in data) return reportNoAnswer(desk, data)
  const answer = verb === 'artifact' ? String(data.output) : text
  print(io, values.json ? JSON.stringify(data) : answer)
  // A script only reads the answer itself from the output.
  if (verb === 'artifact' && data.fenced === false) say(io, `termaite: ${scrapedWords(nameOf(Number(data.slot)))}`)
  if (verb !== 'wait') return 0
  if (data.is_idle === true) return 0
  if (data.state === 'asking') say(io, `Answer it: termaite crew answer ${data.slot}`)
  const goesOn = ['held', 'starting', 'busy'].includes(String(data.state))
  if (goesOn) say(io, `Still running. Wait longer with: termaite crew wait ${words.join(' ')} --timeout <seconds>`)
  return goesOn ? exit.later : exit.failed
}

/** Prints no answer if the last prompt has none, because a script would mistake an earlier answer for it. */
function reportNoAnswer({ io, values }: OpenedCrew, data: Record<string, unknown>): number {
  const { slot, ...answer } = data as Unanswered & { slot: number }
  const isLate = mayAnswer(answer)
  if (values.json) print(io, JSON.stringify(data))
  const wait = isLate ? `Wait for it with: termaite crew wait ${slot}. ` : ''
  say(io, `termaite: ${unansweredWords(slot, answer)} ${wait}Its earlier answers: termaite crew logs ${slot}`)
  return isLate ? exit.later : exit.failed
}

async function list(desk: OpenedCrew, words: readonly string[]): Promise<number> {
  const { io, place, open, values } = desk
  await ensureKeeper(io, place, open)
  if (values.json) return call(desk, 'list', words)
  noMore('list', words)
  const slots = await open.crew.slots()
  if (slots.length === 0) say(io, nobodyWords(desk))
  else {
    const when = (at: number) => listedTime(io, at, (time) => localTimeFrom(io.clock.now(), time))
    print(io, crewTable(slots, { when, answer: 'termaite crew answer', columns: io.out.columns }))
  }
  const strays = strayWords(await loneTerminals(io))
  if (strays !== undefined)
    say(io, `termaite: ${strays}. termaite ps shows how to see and end it; termaite crew close ends it too.`)
  return 0
}

async function watch(desk: OpenedCrew, words: readonly string[]): Promise<number> {
  const { io, place, open } = desk
  if ((await open.crew.slots()).length === 0) {
    say(io, nobodyWords(desk))
    return 0
  }
  await ensureKeeper(io, place, open)
  const { watch: show } = await import('../../desk/crew/crew-watch.ts')
  return show(io, place, open, words)
}

function nobodyWords({ open, settings }: OpenedCrew): string {
  const names = open.parts.names()
  if (names.length === 0) {
    return `No agent is running here, and none can be started: ${noAgentForCrew(settings)}`
  }
  const others = names.length > 1 ? `\nAlso available: ${names.slice(1).join(', ')}.` : ''
  return `No agent is running here. Start one: termaite crew spawn ${names[0]} "<task>"${others}`
}

async function spawn(desk: OpenedCrew, words: readonly string[]): Promise<number> {
  const { io, values } = desk
  const { text, data } = await callVerb(desk, 'spawn', words, desk.values)
  if (values.json) print(io, JSON.stringify(data))
  else print(io, `${text}\nWatch it: termaite crew attach ${data.slot}`)
  return 0
}

async function logs({ io, open, values }: OpenedCrew, [word, ...more]: readonly string[]): Promise<number> {
  noMore('logs', more)
  const { id, agent } = await open.crew.slot(slotOf('logs', word))
  const entries = await entriesOf(open.crew, id)
  if (values.json) for (const entry of entries) print(io, JSON.stringify(entry))
  else if (entries.length === 0) say(io, `Slot ${id} has no messages yet.`)
  else print(io, logWords(entries, agent))
  return 0
}

async function close({ io, open, values }: OpenedCrew, words: readonly string[]): Promise<number> {
  if (/^[1-9]\d*$/.test(words[0] ?? ''))
    throw new UsageError(`crew close ends the whole crew. To end one agent: termaite crew kill ${words[0]}`)
  noMore('close', words)
  const slots = await open.crew.slots()
  const living = slots.filter(isLiving).length
  const strays = strayWords(await loneTerminals(io))
  const ends =
    living === 0 ? 'Delete' : `End ${living === 1 ? 'the running agent' : `the ${living} running agents`} and delete`
  const also = strays === undefined ? '' : ` Besides, ${strays}, which is closed too.`
  const question = `${ends} all conversations of the crew ${open.crew.workspace}?${also}`
  if ((slots.length > 0 || strays !== undefined) && !(await confirm(io, question, values.yes === true))) {
    say(io, 'The crew was not closed.')
    return 1
  }
  const { ended: members, kept } = await open.crew.close()
  const ended = members + (await endTerminals(io, ({ of }) => of === 'nobody')).length
  if (values.json)
    print(io, JSON.stringify({ ended, kept: kept.map(({ id, worktree }) => ({ slot: id, ...worktree })) }))
  else print(io, `The crew is closed. ${ended} ${ended === 1 ? 'agent was' : 'agents were'} stopped.`)
  for (const { worktree } of kept)
    say(
      io,
      `termaite: the worktree ${worktree!.path} (branch ${worktree!.branch}) was kept. Remove it with: git worktree remove ${worktree!.path}`,
    )
  return 0
}
