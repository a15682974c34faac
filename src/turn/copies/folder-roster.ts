import type { Roster } from '../../core/work/agent.ts'
import type { ProjectCopy } from '../../hub/model/tasks/project-copy.ts'
import type { App } from '../app.ts'
import type { NativeParts } from '../../native/native-parts.ts'
import { rosterParts } from '../app.ts'
import { closeNative, leaveSession, newNativeState } from '../../native/native-parts.ts'
import { openRoster } from '../roster.ts'

/** The roster for a folder, which may differ from the conversation's own; `close` stops everything that our own agents started there. */
type FolderRoster = Roster & { close(): Promise<void> }

/** The parts of our own agents for a folder other than the conversation's own; `close` stops everything that they started there. */
type FolderNative = { native: NativeParts; close(): Promise<void> }

/**
 * Creates the tools, sandbox and MCP servers of our own agents for a folder. These agents share no memory with others, such as the list
 * of files that they have read.
 */
export function nativeIn(app: App, at: Pick<ProjectCopy, 'root' | 'cwd'>): FolderNative {
  const { session, trust, notes } = app.native.state
  const fresh = newNativeState()
  const native = {
    ...app.native,
    root: at.root,
    cwd: at.cwd,
    state: {
      ...fresh,
      notes: { ...fresh.notes, shown: notes.shown },
      session: { ...fresh.session, begun: session.begun },
      trust: { given: trust.given },
    },
  }
  return {
    native,
    async close() {
      if (native.state.session.begun !== app.native.state.session.begun)
        await leaveSession(native, 'other').catch(() => [])
      await closeNative(native).catch(() => {})
    },
  }
}

/** Opens the roster in a folder: our own agents work there with parts of their own. */
export function rosterIn(app: App, at: Pick<ProjectCopy, 'root' | 'cwd'>, settings = app.settings): FolderRoster {
  const { native, close } = nativeIn(app, at)
  const { names, open } = openRoster(settings, rosterParts({ ...app, native }))
  return { names, open, close }
}
