import type { App } from '../../app/app.ts'
import type { Hold } from '../hold.ts'
import { UsageError } from '../../core/io.ts'

/** The app of a chat that keeps what is said; one that keeps nothing has nothing to look back at, and looks at nothing kept. */
export function keeping(hold: Hold): App {
  const app = hold.app()
  if (app.ephemeral)
    throw new UsageError('nothing is kept in this chat (--ephemeral), and nothing that was kept before is read.')
  return app
}
