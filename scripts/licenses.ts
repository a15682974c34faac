import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Manifest = { name: string; version: string; license?: string; author?: string | { name: string } }

/** The folders of the packages whose files are among these paths, which are relative to the repository. */
export function packagesOf(paths: Iterable<string>): string[] {
  const folders = [...paths].flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  return [...new Set(folders)].sort()
}

/** The licences of packages as one text. A package without a file of its own is named with what its manifest says. */
export function licenseTexts(root: string, folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const place = join(root, folder)
    const { name, version, license = 'no licence named', author } = manifestOf(place)
    const by = typeof author === 'string' ? author : author?.name
    const texts = globSync('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: place })
      .sort()
      .map((file) => readFileSync(join(place, file), 'utf8').trim())
    const words = texts.length > 0 ? texts : [[license, ...(by ? [`by ${by}`] : [])].join(' ')]
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${words.join('\n\n')}\n`
  })
  return ['termaite contains parts of these packages, under their own licences.\n', ...parts].join('\n')
}

function manifestOf(place: string): Manifest {
  const file = join(place, 'package.json')
  if (!existsSync(file)) throw new Error(`${place} has no package.json: run npm ci`)
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest
}
