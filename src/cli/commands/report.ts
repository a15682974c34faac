import type { Parsed } from '../args.ts'
import type { Io } from '../../core/io.ts'
import { atHub } from '../../app/hub/hub-client.ts'
import { reportOf, reportWords } from '../hub/report.ts'
import { print } from '../../core/io.ts'
import { sinceOf } from '../since.ts'

/** What was done since a time: a person who comes back in the morning reads this first. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const since = sinceOf(typeof values.since === 'string' ? values.since : '24h', io.clock.now())
  const { tasks, agents } = await atHub(io, (hub) => hub.state())
  const report = reportOf(tasks, agents, since)
  print(io, values.json ? JSON.stringify(report) : reportWords(report))
  return 0
}
