import type { Clock } from '../../../src/base/time/clock.ts'
import type { AuditBounds, HubAuditBook, KeptAct } from '../../../src/hub/model/access/hub-audit.ts'
import { auditBounds } from '../../../src/hub/model/access/hub-audit.ts'

/** The acts at a hub in memory. */
export function memoryHubAudit(clock: Clock, { most, days }: AuditBounds = auditBounds): HubAuditBook {
  let acts: KeptAct[] = []
  let last = 0
  return {
    async add(more) {
      acts.push(...more.map((act) => ({ ...act, number: ++last })))
      const oldest = clock.now() - days * 86_400_000
      acts = acts.filter(({ at, number }) => at >= oldest && number > last - most)
    },
    async page({ since = 0, by, after = 0, most: wanted }) {
      const fits = acts.filter((act) => act.number > after && act.at >= since && (by === undefined || act.by === by))
      return structuredClone(fits.slice(0, wanted))
    },
    async close() {},
  }
}
