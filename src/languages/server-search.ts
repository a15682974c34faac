import type { Env } from '../base/env.ts'
import type { Language } from './language.ts'
import type { LanguageServer } from './server-table.ts'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findOutside, isProgram } from '../base/process/program-path.ts'
import { isWithin } from '../base/files/real-path.ts'
import { languageServers, serversFor } from './server-table.ts'

/** The project, and the permissions that the person gave there. */
export type SearchPlace = {
  root: string
  env: Env
  /** Whether the person agreed that programs of this project run. */
  agreed: boolean
  /** The languages that the settings leave on. */
  languages: readonly Language[]
}

/** A server that can be started: its program, and the folder of the project that it works in. */
export type FoundServer = {
  server: LanguageServer
  program: string
  /** Whether the program is inside the project. */
  own: boolean
  root: string
  options: Record<string, unknown>
}

/** Folders of a project in which its package managers put programs. */
const programFolders = ['node_modules/.bin', '.venv/bin', 'venv/bin', 'env/bin']

/**
 * Finds the server for a file: the project's own before one on the PATH, because the project chose its version. `unused` names a server
 * that would be used if the person agreed to run programs of this project.
 */
export function findServer(
  path: string,
  place: SearchPlace,
): { found?: FoundServer; unused?: { server: LanguageServer; program: string } } {
  let unused: { server: LanguageServer; program: string } | undefined
  for (const own of [true, false])
    for (const server of serversFor(path).filter(({ language }) => place.languages.includes(language))) {
      const root = rootOf(path, server, place.root)
      const program = own ? programInside(server, dirname(path), place.root) : programOnPath(server, place)
      if (program === undefined) continue
      const options = own && !place.agreed ? undefined : server.options({ program, agreed: place.agreed })
      if (options) return { found: { server, program, own, root, options } }
      unused ??= { server, program }
    }
  return unused ? { unused } : {}
}

/** A server as shown to a person: whether it is installed, and whether it could be started now. */
type KnownServer = { server: LanguageServer; program?: string; state: 'usable' | 'not agreed' | 'missing' }

/** The servers of every language, in the order in which they are chosen. Nothing is started. */
export function installedServers(place: Omit<SearchPlace, 'languages'>): KnownServer[] {
  return [true, false].flatMap((own) =>
    languageServers.map((server): KnownServer => {
      const program = own ? programInside(server, place.root, place.root) : programOnPath(server, place)
      if (program === undefined) return { server, state: 'missing' }
      const isUsable = (!own || place.agreed) && server.options({ program, agreed: place.agreed }) !== undefined
      return { server, program, state: isUsable ? 'usable' : 'not agreed' }
    }),
  )
}

/** The folder that a server works in: the nearest folder above a file that contains a marker, or the project. */
function rootOf(path: string, { markers, perMarker }: LanguageServer, project: string): string {
  if (!perMarker) return project
  for (let folder = dirname(path); isWithin(project, folder); folder = dirname(folder)) {
    if (markers.some((marker) => existsSync(join(folder, marker)))) return folder
    if (folder === project) break
  }
  return project
}

function programInside(server: LanguageServer, from: string, project: string): string | undefined {
  for (let folder = from; isWithin(project, folder); folder = dirname(folder)) {
    for (const place of programFolders)
      for (const name of server.programs) {
        const program = join(folder, place, name)
        if (isProgram(program) && (server.suits?.(program) ?? true)) return program
      }
    if (folder === project) break
  }
  return undefined
}

function programOnPath(server: LanguageServer, { env, root }: Pick<SearchPlace, 'env' | 'root'>): string | undefined {
  for (const name of server.programs) {
    const program = findOutside(name, env, root)
    if (program !== undefined && (server.suits?.(program) ?? true)) return program
  }
  return undefined
}
