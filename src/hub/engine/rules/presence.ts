import type { AgentRow } from '../../model/hub-ledger.ts'

/** An agent that sends nothing for this time is away. */
export const awayMs = 5 * 60_000
/** An agent that hung up while it waited is away after this time. A client that only lost its connection is back sooner. */
const leftMs = 5_000

/** Whether an agent waits for work, at any hub; `steady` is the monotonic time of the ledger. */
export function waits({ wait }: AgentRow, steady: number): boolean {
  return wait !== undefined && wait.until > steady
}

/** Whether an agent is shown to people as present. Its tasks wait for it longer, because it may be restarted. */
export function isAbout(row: AgentRow, steady: number): boolean {
  const { heard, left } = row
  const hasLeft = left !== undefined && steady - left > leftMs
  return (steady - heard < awayMs || waits(row, steady)) && !hasLeft
}
