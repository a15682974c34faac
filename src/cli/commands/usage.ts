import type { Index, UsageBy } from '../../store/index/conversation-index.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import { openIndex } from '../../store/index/conversation-index.ts'
import { print, say, voiceOf } from '../../core/io.ts'
import { placeOf } from '../../app/place.ts'
import { slugOf } from '../../app/project.ts'
import { sinceOf } from '../args.ts'
import { agentResults, usageRows, usageTable } from '../../desk/usage-table.ts'

type Of = { project?: string; since?: number }

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const index = openIndex(place.home, voiceOf(io))
  const by = typeof values.by === 'string' ? (values.by as UsageBy) : undefined
  const of: Of = {
    ...(values.all || by === 'project' ? {} : { project: slugOf(place.root) }),
    ...(typeof values.since === 'string' ? { since: sinceOf(values.since, io.clock.now()) } : {}),
  }
  try {
    await index.catchUp()
    if (values.json) {
      print(io, JSON.stringify(by ? await index.usage({ ...of, by }) : await everything(index, of)))
      return 0
    }
    const rows = await index.usage({ ...of, by: by ?? 'agent' })
    if (rows.length === 0) say(io, 'No usage yet.')
    else print(io, usageTable(by ?? 'agent', rows, await index.verdicts(of), await agentResults(index, of)))
    return 0
  } finally {
    await index.close()
  }
}

/** Usage by every kind of row, the thinking verdicts, and how the answers of each agent were judged. */
async function everything(index: Index, of: Of) {
  const used = usageRows.map(async (by) => [by, await index.usage({ ...of, by })] as const)
  return {
    ...Object.fromEntries(await Promise.all(used)),
    verdicts: await index.verdicts(of),
    results: await agentResults(index, of),
  }
}
