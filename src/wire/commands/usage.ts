import type { UsageBy } from '../../store/index/index.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { openIndex } from '../../store/index/index.ts'
import { print, say, UsageError } from '../io.ts'
import { placeOf } from '../place.ts'
import { slugOf } from '../project.ts'
import { usageTable } from '../usage-table.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const place = placeOf(io)
  const index = openIndex(place.home, { clock: io.clock })
  const of = {
    ...(values.all || values.by === 'project' ? {} : { project: slugOf(place.root) }),
    ...(typeof values.since === 'string' ? { since: momentOf(values.since, io.clock.now()) } : {}),
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

/** A date, or so long ago: 7d, 12h, 30m. */
function momentOf(text: string, now: number): number {
  const ago = /^(\d+)([dhm])$/.exec(text)
  if (ago) return now - Number(ago[1]) * { d: 86_400_000, h: 3_600_000, m: 60_000 }[ago[2] as 'd' | 'h' | 'm']
  // A bare date would be read as UTC: a person means their own midnight.
  const at = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
  if (Number.isNaN(at))
    throw new UsageError(`--since: found "${text}", allowed: a date (2026-11-15), or so long ago (7d, 12h, 30m).`)
  return at
}
