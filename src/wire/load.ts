import type { CommandCode } from './program.ts'

/** A command's code, read only when it is called. */
export const load: Record<string, () => Promise<CommandCode>> = {
  termaite: () => import('./commands/prompt.ts'),
  setup: () => import('./commands/setup.ts'),
  doctor: () => import('./commands/doctor.ts'),
  demo: () => import('./commands/demo.ts'),
  sessions: () => import('./commands/sessions.ts'),
  usage: () => import('./commands/usage.ts'),
  diff: () => import('./commands/diff.ts'),
  undo: () => import('./commands/undo.ts'),
  compact: () => import('./commands/compact.ts'),
  config: () => import('./commands/config.ts'),
  where: () => import('./commands/where.ts'),
  forget: () => import('./commands/forget.ts'),
  uninstall: () => import('./commands/uninstall.ts'),
  ps: () => import('./commands/ps.ts'),
  stop: () => import('./commands/stop.ts'),
  completion: () => import('./commands/completion.ts'),
}
