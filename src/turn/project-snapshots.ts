import type { Io } from '../core/io.ts'
import type { Place } from '../home/place.ts'
import type { Project } from '../home/project.ts'
import type { AddedFolders } from '../native/added-folders.ts'
import type { Snapshots } from '../safety/snapshots/snapshots.ts'
import { withFolderSnapshots } from '../safety/snapshots/folder-snapshots.ts'
import { snapshots } from '../safety/snapshots/snapshots.ts'

/** Opens the snapshots of a project and of the folders that were added to it, now or in earlier turns. */
export function openSnapshots(
  io: Io,
  place: Pick<Place, 'home' | 'root'>,
  project: Project,
  added?: AddedFolders,
): Snapshots {
  const dir = `${place.home}/projects/${project.slug}/snapshots`
  const open = (dir: string, root: string, canBeGone = false) =>
    snapshots({ dir, root, env: io.env, clock: io.clock, canBeGone })
  const { root } = place
  return withFolderSnapshots({ project: open(dir, root), root, dir, folders: () => added?.now ?? [], open })
}
