import type { UsageBy } from '../../store/index/index.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { openIndex } from '../../store/index/index.ts'
import { print, say } from '../io.ts'
import { placeOf } from '../place.ts'
import { slugOf } from '../project.ts'
import { sinceOf } from '../since.ts'
import { usageTable } from '../usage-table.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const index = openIndex(place.home, { clock: io.clock })
  const of = {
    ...(values.all || values.by === 'project' ? {} : { project: slugOf(place.root) }),
    ...(typeof values.since === 'string' ? { since: sinceOf(values.since, io.clock.now()) } : {}),
  }
  try {
    await index.catchUp()
    if (values.json) {
      const [agent, day, project] = await Promise.all(
        (['agent', 'day', 'project'] as const).map((by) => index.usage({ ...of, by })),
      )
      print(
        io,
        JSON.stringify(
          typeof values.by === 'string'
            ? await index.usage({ ...of, by: values.by as UsageBy })
            : { agent, day, project },
        ),
      )
      return 0
    }
    const by = (typeof values.by === 'string' ? values.by : 'agent') as UsageBy
    const rows = await index.usage({ ...of, by })
    if (rows.length === 0) say(io, 'Nothing was used yet.')
    else print(io, usageTable(by, rows))
    return 0
  } finally {
    await index.close()
  }
}
