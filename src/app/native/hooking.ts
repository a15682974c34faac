import type { HookOutcome } from '../../safety/hooks/run.ts'
import type { HookEvent } from '../../safety/hooks/settings.ts'
import type { Mode } from '../../safety/rules/modes.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { join } from 'node:path'
import { runHooks } from '../../safety/hooks/run.ts'
import { slugOf } from '../project.ts'

/** Whose hooks, and how it is held. */
export type Hooking = Pick<NativeSeat, 'settings'>

/** Runs the hooks of an event with what every one of them is told; what they say to the person is a note. */
export async function hooks(
  event: HookEvent,
  told: Record<string, unknown>,
  { settings }: Hooking,
  { cwd, root, env, clock, session, lasting, home, audited }: NativeParts,
  signal: AbortSignal,
): Promise<HookOutcome> {
  const input = {
    session_id: session,
    ...(audited ? { transcript_path: join(home, 'projects', slugOf(root), 'history.jsonl') } : {}),
    permission_mode: shared[settings.permissions.mode],
    ...told,
  }
  const said = await runHooks(event, input, { settings: settings.hooks, cwd, root, env, clock, signal })
  lasting.notes.push(...said.messages, ...said.warnings)
  return said
}

/** As the modes are called where hooks are written for. */
const shared: Record<Mode, string> = {
  default: 'default',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  dontAsk: 'dontAsk',
  bypass: 'bypassPermissions',
}
