import type { ToolParts } from '../parts.ts'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export type Found = { lines: string[]; more: boolean; trouble?: string }

export type RipgrepParts = Pick<ToolParts, 'env'> & {
  /** Where ripgrep is; undefined when it is nowhere. */
  ripgrep?(): Promise<string | undefined>
}

/** Searched in alike: hidden files too, ignore files honoured, no settings of the person or of a project. */
const always = ['--no-config', '--hidden', '--no-require-git', '--glob', '!.git', '--color', 'never']

/** Lines of ripgrep's answer, up to so many; undefined when there is no ripgrep. */
export async function ripgrep(
  args: readonly string[],
  { cwd, most, signal }: { cwd: string; most: number; signal: AbortSignal },
  parts: RipgrepParts,
): Promise<Found | undefined> {
  const path = await (parts.ripgrep ?? (() => place(parts.env)))()
  if (path === undefined) return undefined
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++
    return seen > most
  }
  const { collect } = await import('../../base/collect.ts')
  const { code, out, err, error } = await collect(path, [...always, ...args], { cwd, env: parts.env, signal, enough })
  if (signal.aborted) throw new Error('cancelled.')
  if (error) return undefined
  const lines = out.toString('utf8').split('\n')
  // What comes after the last line end was cut in the middle, or is nothing.
  lines.pop()
  const trouble = code === 2 ? err.trim() : ''
  return { lines: lines.slice(0, most), more: seen > most, ...(trouble === '' ? {} : { trouble }) }
}

/** The one that came with us, else the one on the path. */
async function place(env: ToolParts['env']): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath
  } catch {
    const places = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
    return places.map((folder) => join(folder, 'rg')).find(isProgram)
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
