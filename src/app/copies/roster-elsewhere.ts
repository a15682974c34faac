import type { Roster } from '../../core/work/agent.ts'
import type { ProjectCopy } from '../../core/work/project-copy.ts'
import type { App } from '../app.ts'
import { rosterParts } from '../app.ts'
import { closeNative, leaveSession, newNativeState } from '../native/native-parts.ts'
import { openRoster } from '../roster.ts'

/** The roster in another folder than the conversation's own, or beside it; `close` ends what our own agents started there. */
export type RosterElsewhere = Roster & { close(): Promise<void> }

/**
 * Opens the roster in a folder: tools, sandbox and MCP servers of our own agents work there. What these agents remember, such as
 * the files that they have read, is theirs alone.
 */
export function rosterIn(app: App, at: Pick<ProjectCopy, 'root' | 'cwd'>, settings = app.settings): RosterElsewhere {
  const { session, trustGiven, told } = app.native.state
  const native = {
    ...app.native,
    root: at.root,
    cwd: at.cwd,
    state: { ...newNativeState(), told, session, trustGiven },
  }
  const { names, open } = openRoster(settings, rosterParts({ ...app, native }))
  return {
    names,
    open,
    async close() {
      if (native.state.session !== app.native.state.session) await leaveSession(native, 'other').catch(() => [])
      await closeNative(native).catch(() => {})
    },
  }
}
