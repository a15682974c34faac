import type { TaskCopies } from '../decompose/parallel-tasks.ts'
import type { App } from '../../turn/app.ts'
import { openProjectCopies } from '../../turn/copies/project-copies.ts'
import { rosterIn } from '../../turn/copies/folder-roster.ts'
import { openRotation } from '../../turn/rotation.ts'

/**
 * Copies of the project in which the rotation does tasks of a tree; undefined if no copy can be made. `first` is the agent that the
 * person named. Nobody is asked after a failure, because the task is then repeated in the project itself.
 */
export function openTaskCopies(app: App, first?: string): TaskCopies | undefined {
  const copies = openProjectCopies(app, { keeps: false })
  return (
    copies && {
      async open(signal) {
        const copy = await copies.open(signal)
        const roster = rosterIn(app, copy)
        return {
          ...copy,
          actor: openRotation(app, { consulted: true, roster, first }),
          async drop() {
            await roster.close()
            await copy.drop()
          },
        }
      },
    }
  )
}
