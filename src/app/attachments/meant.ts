import type { Stats } from 'node:fs'
import type { LineRange, Reference } from '../../core/talk/attach.ts'
import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { errorCode } from '../../base/files.ts'

export type Where = { cwd: string; root: string; home?: string }

/** What a reference names: where it is, and how an agent that stands in the working folder would call it. */
export type Meant = { at: string; path: string; end: number; folder: boolean; lines?: LineRange }

/** The first of its readings that is there; throws words when it is there and may not be attached. */
export async function meant(reference: Reference, where: Where): Promise<Meant | undefined> {
  for (const { path, end, lines } of reference.readings) {
    const home = /^~(?:\/|$)/.test(path) ? where.home : undefined
    const at = home === undefined ? resolve(where.cwd, path) : join(home, path.slice(1))
    const stats = await stat(at).catch(notThere)
    if (!stats || (path.endsWith('/') && !stats.isDirectory())) continue
    if (!stats.isFile() && !stats.isDirectory()) throw new Error('a pipe, a socket or a device is no file to attach')
    if (lines && stats.isDirectory()) throw new Error('a folder has no lines')
    const rooted = home !== undefined || isAbsolute(path)
    if (!rooted) await insideOf(where.root, at)
    return {
      at,
      end,
      path: called(at, rooted, where.cwd, stats),
      folder: stats.isDirectory(),
      ...(lines ? { lines } : {}),
    }
  }
  return undefined
}

function called(at: string, rooted: boolean, cwd: string, stats: Stats): string {
  const name = rooted ? at : relative(cwd, at) || '.'
  return stats.isDirectory() && !name.endsWith('/') ? `${name}/` : name
}

/** What leads out of the project is attached only when the person says where it is: a link of a repository may lead anywhere. */
async function insideOf(root: string, at: string): Promise<void> {
  const real = await realpath(at)
  const way = relative(root, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
    throw new Error(`it lies outside the project; write @${real} if that is meant`)
}

const absent = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

function notThere(error: unknown): undefined {
  if (!absent.has(errorCode(error) ?? '')) throw new Error(sayable[errorCode(error)!] ?? String(error))
}

const sayable: Record<string, string> = { EACCES: 'it may not be read', EPERM: 'it may not be read' }
