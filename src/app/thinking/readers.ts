import type { App } from '../app.ts'
import { away, healthDoc, noHealth } from '../../mind/rotation/health.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'
import { profileOf } from '../../settings/agent-settings.ts'

/** `promised`: those of them that cannot be held, and of which the person says that they only read. */
export type Readers = { names: string[]; promised: string[] }

/** Those who are well and can be held to reading, one of each vendor before a second of any; else why there is nobody. */
export async function readersIn(app: App): Promise<Readers | { why: string }> {
  const health = await healthDoc(app.store)
    .read()
    .catch(() => noHealth)
  const now = app.io.clock.now()
  const able = enabledAgents(app.settings).flatMap((agent) => {
    const seat = app.roster.open(agent.name, { cwd: app.place.cwd, leash: 'read' })
    void seat.close()
    // A command of the person's own cannot be held; they may say that it only reads.
    const promised = !profileOf(agent) && agent.kind !== 'native' && app.settings.readOnly.includes(agent.name)
    const reads = seat.traits.talks || promised
    return reads ? [{ name: agent.name, vendor: seat.traits.vendor ?? agent.name, promised }] : []
  })
  if (able.length === 0) return { why: 'no agent here can be held to reading' }
  const well = able.filter(({ name }) => !app.out.has(name) && !away(health, name, now))
  if (well.length === 0) return { why: 'nobody who can be held to reading is well' }
  return { names: spread(well), promised: well.flatMap(({ name, promised }) => (promised ? [name] : [])) }
}

function spread(agents: readonly { name: string; vendor: string }[]): string[] {
  const met = new Map<string, number>()
  const ranked = agents.map(({ name, vendor }) => {
    const rank = met.get(vendor) ?? 0
    met.set(vendor, rank + 1)
    return { name, rank }
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ name }) => name)
}
