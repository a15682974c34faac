import type { App } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { NativeAgentSettings } from '../../../settings/agent-settings.ts'
import { TrustBook } from '../../../safety/trust/folder-trust.ts'
import { isFolderTrusted } from '../../../native/native-trust.ts'
import { UsageError } from '../../../core/io.ts'
import { nativeAgents } from '../../../settings/enabled-agents.ts'

/** The native agent for a command without a name: the next one to take a turn, otherwise the first. */
export function nativeAgent(controls: DeskControls): NativeAgentSettings {
  const agents = nativeAgents(controls.app().settings)
  const { next } = controls.standing()
  const agent = agents.find(({ name }) => name === next) ?? agents[0]
  if (agent) return agent
  throw new UsageError(
    'no native agent is configured. Add one with /setup, or with /config (kind "native" and a model).',
  )
}

export const trustBook = ({ native }: App) => new TrustBook(native.store, { clock: native.clock, own: native.home })

/** Whether the project's folder is trusted. Does not ask. */
export const isTrusted = ({ native }: App): Promise<boolean> => isFolderTrusted(native)
