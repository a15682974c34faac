import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { readdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { addableFolder } from '../../../native/added-folders.ts'
import { UsageError } from '../../../core/io.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { choose, goingOn } from '../shared/choice.ts'

/** The /add-dir command: opens additional folders to the agents, lists them, and closes them again. */
export function addDirCommand(controls: DeskControls): Command {
  return {
    name: 'add-dir',
    words: '[folder] | remove <folder>',
    help: 'Let agents use a further folder like the project.',
    async complete(typed) {
      const [, named] = /^remove\s+(.*)$/.exec(typed) ?? []
      const { native, place } = controls.app()
      if (named !== undefined) return goingOn(named, native.folders.now).map((folder) => `remove ${folder}`)
      return foldersAt(typed, place.cwd, native.env.HOME)
    },
    async run(args, world) {
      const [, taken] = /^remove\b\s*(.*)$/s.exec(args.trim()) ?? []
      if (taken !== undefined) return remove(controls, taken, world)
      if (args.trim() === '') return list(controls, world)
      await add(controls, args.trim(), world)
    },
  }
}

function list(controls: DeskControls, { say }: CommandWorld): void {
  const folders = controls.app().native.folders.now
  if (folders.length === 0)
    return say('Agents use only the project. To open a further folder to them: /add-dir <folder>', 'note')
  say(['Agents may use these folders like the project:', ...folders.map((folder) => `- ${folder}`)].join('\n'), 'text')
}

async function add(controls: DeskControls, named: string, world: CommandWorld): Promise<void> {
  const { native, place, io, project, ephemeral } = controls.app()
  const folder = addableFolder(named, place.cwd, { ...place, env: io.env })
  if (native.folders.now.includes(folder)) return world.say(`${folder} is open to agents already.`, 'note')
  const picked = await choose(
    world,
    'Let agents read and change the files in this folder, as far as they may in the project?',
    consentOptions({
      once: { id: 'run' as const, label: 'Yes, until termaite ends' },
      always: ephemeral ? undefined : { id: 'always' as const, label: 'Yes, always in this project' },
      no: { id: 'no' as const, label: 'No' },
    }),
    [{ type: 'text', text: folder }],
  )
  if (picked === undefined || picked === 'no') return world.say('Nothing was changed.', 'note')
  if (picked === 'always')
    await project.doc.update((doc) => ({ ...doc, folders: [...new Set([...(doc.folders ?? []), folder])] }))
  native.folders.add(folder)
  world.say(`Agents may use ${folder} from the next turn on. To take it back: /add-dir remove ${folder}`, 'note')
}

async function remove(controls: DeskControls, named: string, { say }: CommandWorld): Promise<void> {
  const { native, place } = controls.app()
  const path = resolve(place.cwd, named)
  const folder = native.folders.now.find((one) => one === named || one === path)
  if (folder === undefined)
    throw new UsageError(
      native.folders.now.length === 0
        ? 'no folder was added, so there is nothing to remove.'
        : `${named} was not added. These were: ${native.folders.now.join(', ')}.`,
    )
  say(await closeFolder(controls, folder), 'note')
}

/** Takes an added folder back from the agents. Returns a sentence for the person. */
export async function closeFolder(controls: DeskControls, folder: string): Promise<string> {
  const { native, project, settings } = controls.app()
  native.folders.remove(folder)
  const kept = (await project.doc.read()).folders?.includes(folder)
  if (kept)
    await project.doc.update((doc) => ({ ...doc, folders: (doc.folders ?? []).filter((one) => one !== folder) }))
  const again =
    settings.additionalFolders.length > 0 ? ' Settings that name it (additionalFolders) open it at the next start.' : ''
  return `${folder} is closed to agents again. A command or server that still runs keeps it until it ends.${again}`
}

/** The folders that can complete a typed path. */
async function foldersAt(typed: string, cwd: string, home: string | undefined): Promise<string[]> {
  const written = home === undefined ? typed : typed.replace(/^~(?=\/)/, home)
  const parent = typed.endsWith('/') || typed === '' ? typed || './' : `${dirname(typed)}/`
  const folder = resolve(cwd, written.endsWith('/') ? written : dirname(written || '.'))
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const begin = parent === './' && !typed.startsWith('./') ? '' : parent.replace(/\/{2,}$/, '/')
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  return goingOn(
    typed,
    names.map(({ name }) => `${begin}${name}/`),
  ).slice(0, 50)
}
