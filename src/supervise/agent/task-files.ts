import type { TaskFiles } from '../../hub/model/tasks/task-source.ts'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolderHere, replaceFile } from '../../base/files/files.ts'

/** Saves the files of tasks below the agent's working folder, so that an agent behind a wall can read them too. Git ignores them. */
export function taskFilesIn(cwd: string): TaskFiles {
  const all = join(cwd, '.termaite', 'task-files')
  return {
    path: (task, name) => join(all, task, name),
    async save(task, name, body) {
      makeFolderHere(join(all, task))
      replaceFile(join(all, '.gitignore'), '*\n')
      replaceFile(join(all, task, name), body)
    },
    async clear(task) {
      await rm(join(all, task), { recursive: true, force: true })
    },
  }
}
