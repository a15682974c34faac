import type { Index, UsageBy } from '../../store/index/conversation-index.ts'
import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { print, say, voiceOf } from '../../core/io.ts'
import { awayAgents } from '../../turn/away-agents.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { placeOf } from '../../home/place.ts'
import { followMove } from '../../turn/moved-project.ts'
import { slugOf } from '../../home/project.ts'
import { sinceOf } from '../arguments/args.ts'
import { activityOf, agentResults, everywhereTable, usageRows, usageTable } from '../../desk/usage-table.ts'

type Of = { project?: string; since?: number }

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  await followMove(io, place)
  const index = openIndex(place.home, voiceOf(io))
  const now = io.clock.now()
  const by = typeof values.by === 'string' ? (values.by as UsageBy) : undefined
  const of: Of = {
    ...(values.all || by === 'project' ? {} : { project: slugOf(place.root) }),
    ...(typeof values.since === 'string' ? { since: sinceOf(values.since, now) } : {}),
  }
  try {
    await index.catchUp()
    if (values.everywhere) return await everywhere(io, index, { ...of, by: by ?? 'agent' }, values.json === true)
    if (values.json) {
      print(io, JSON.stringify(by ? await index.usage({ ...of, by }) : await everything(index, of, now)))
      return 0
    }
    const rows = by ?? 'agent'
    const used = await index.usage({ ...of, by: rows })
    if (used.length === 0) say(io, 'No usage yet.')
    else {
      const done = await activityOf(index, { ...of, by: rows, now })
      const parts = { used, done, verdicts: await index.verdicts(of), results: await agentResults(index, of) }
      print(io, usageTable(rows, parts))
    }
    for (const { agent, as, until } of await awayAgents(fileStore(place.home, voiceOf(io)), now, (words) => words))
      say(io, `${agent} ${awayWords[as]} until ${localTimeFrom(now, until)}.`)
    return 0
  } finally {
    await index.close()
  }
}

/** Counts the CLIs' own records in addition to ours, and adds both up. */
async function everywhere(io: Io, index: Index, of: Of & { by: UsageBy }, json: boolean): Promise<number> {
  const { outsideUsage } = await import('../../people/import/outside-usage.ts')
  const { hasPast } = await import('../../people/import/session-files.ts')
  const { allProfiles } = await import('../../profiles/all.ts')
  const place = placeOf(io)
  const world = { io, home: io.env.HOME ?? '', place, store: fileStore(place.home, voiceOf(io)), index }
  const faults: string[] = []
  const { project, ...rest } = of
  const wish = { ...rest, faults, ...(project === undefined ? {} : { project: place.root }) }
  const outside = await outsideUsage(world, allProfiles().filter(hasPast), wish)
  const used = [...(await index.usage(of)), ...outside]
  for (const fault of faults) say(io, `termaite: could not read ${fault}`)
  if (json) print(io, JSON.stringify(used))
  else if (used.length === 0) say(io, 'No usage yet.')
  else print(io, everywhereTable(of.by, used))
  return 0
}

const awayWords = { parked: 'is out of quota', busy: 'is busy', 'cooling down': 'has failed too often and rests' }

/** Usage by every kind of row, the activity, the thinking verdicts, and the judgements of each agent's answers. */
async function everything(index: Index, of: Of, now: number) {
  const used = usageRows.map(async (by) => [by, await index.usage({ ...of, by })] as const)
  return {
    ...Object.fromEntries(await Promise.all(used)),
    activity: await activityOf(index, { ...of, by: 'agent', now }),
    verdicts: await index.verdicts(of),
    results: await agentResults(index, of),
  }
}
