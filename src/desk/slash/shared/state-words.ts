import type { AgentStanding } from '../../../chat/desk/chat-desk.ts'
import { oneLine } from '../../../base/text/table.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { stateNames } from '../../../chat/desk/chat-desk.ts'

/** Says whether an agent is ready, or until when it is away and why. */
export function stateWords({ state, until, why }: AgentStanding): string {
  return [
    `${stateNames[state]}${until === undefined ? '' : ` until ${localTime(until)}`}`,
    ...(why === undefined ? [] : [oneLine(why, 60)]),
  ].join(': ')
}
