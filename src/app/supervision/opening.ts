import type { ScreenSpec } from '../../agents/screen/screen-spec.ts'
import type { TerminalHost } from '../../core/screen/terminal.ts'
import type { Open } from '../../mind/supervise/parts.ts'
import type { Io } from '../../core/io.ts'
import type { Ready } from './plan.ts'
import { screenAgent } from '../../agents/screen/screen-agent.ts'
import { composes } from '../../agents/screen/screen-spec.ts'
import { screenParts, specOf } from '../crew/roster.ts'
import { hubEnv } from './wiring.ts'

/** A task may take a night; what falls silent is seen to by whoever keeps it at work. */
const longestTurnMs = 24 * 3_600_000

/** The agent as it runs here: what its profile composes, with the hub lent to it. */
export function supervisedSpec(io: Io, { agent, settings, hub, wiring }: Ready): ScreenSpec {
  const spec = specOf(agent, settings)
  return {
    ...spec,
    ...(wiring && spec.profile ? { profile: wiring.profile } : {}),
    env: { ...hubEnv(io, hub.place), ...spec.env },
    timeoutMs: longestTurnMs,
  }
}

/** Opens it in the terminal of its session; `lives`: whether it is there already. */
export function opener(
  io: Io,
  ready: Ready,
  spec: ScreenSpec,
  host: () => Promise<TerminalHost>,
  lives: boolean,
): Open {
  const { session, agent, leash } = ready
  let found = lives
  return (resume) => {
    const seat = {
      cwd: session.state.cwd,
      leash,
      terminal: { id: session.state.terminal, title: agent.name, mode: 'window' as const },
      ...(resume === undefined ? {} : { resume }),
    }
    const came = found ? 'there' : resume !== undefined && composes(spec) ? 'resumed' : 'began'
    found = false
    return { agent: screenAgent(spec, seat, screenParts(io, { host })), came }
  }
}
