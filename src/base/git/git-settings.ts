import type { Env } from '../env.ts'
import type { Ran } from '../process/collect.ts'
import type { GitPlaces } from './run-git.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { runGit } from './run-git.ts'

export type GitSetting = { key: string; value?: string }

const list = ['config', '-z', '--list']

/** The settings in one file of a repository, without those of files that it includes. */
export function fileSettings(file: string, env: Env): Promise<GitSetting[]> {
  return cachedSettings(`file ${file}`, [file], () =>
    runGit([...list, '--no-includes', '--file', file], { cwd: '/', env }),
  )
}

/** The settings of the person and the system. `places` may name a repository: which files are included can depend on it. */
export function personSettings(places: GitPlaces): Promise<GitSetting[]> {
  const { HOME, XDG_CONFIG_HOME, PATH } = places.env
  const home = HOME === undefined ? [] : [join(HOME, '.gitconfig'), join(HOME, '.config/git/config')]
  const files = ['/etc/gitconfig', ...home, ...(XDG_CONFIG_HOME ? [join(XDG_CONFIG_HOME, 'git/config')] : [])]
  const key = JSON.stringify([HOME, XDG_CONFIG_HOME, PATH])
  return cachedSettings(key, files, () => runGit(list, { ...places, person: true }))
}

/** Settings as they were read, and the state of their files at that time. */
type Reading = { state: string; settings: Promise<GitSetting[]> }

const readings = new Map<string, Reading>()
const mostReadings = 100

/**
 * Reads settings again only if one of their files has changed: most git commands need the same settings as the previous command, and
 * starting git for them takes as long as the command itself. Settings that include other files are read each time, because those files
 * may change too.
 */
function cachedSettings(key: string, files: readonly string[], read: () => Promise<Ran>): Promise<GitSetting[]> {
  const state = files.map(stateOf).join()
  const known = readings.get(key)
  if (known?.state === state) return known.settings
  const reading = { state, settings: read().then(settle) }
  readings.set(key, reading)
  const [oldest] = readings.keys()
  if (readings.size > mostReadings) readings.delete(oldest!)
  return reading.settings

  function settle(ran: Ran): GitSetting[] {
    const settings = settingsIn(ran)
    const lasts = ran.code === 0 && !settings.some(({ key }) => /^include(?:if\..*)?\.path$/s.test(key))
    if (!lasts && readings.get(key) === reading) readings.delete(key)
    return settings
  }
}

/** A file that was written or replaced has a new state. */
function stateOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found ? `${found.dev}:${found.ino}:${found.ctimeNs}` : ''
}

/** Parses the output of `git config -z --list`. A key without a value stands for true. */
export function settingsIn({ code, out }: Ran): GitSetting[] {
  if (code !== 0) return []
  const lines = out.toString().split('\0').slice(0, -1)
  return lines.map((entry) => {
    const at = entry.indexOf('\n')
    return at < 0 ? { key: entry } : { key: entry.slice(0, at), value: entry.slice(at + 1) }
  })
}

/** Writes settings as a configuration file. */
export function settingsText(settings: readonly GitSetting[]): string {
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
  const lines = settings.map(({ key, value }) => {
    const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
    const within = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`
    return `[${key.slice(0, first)}${within}]\n\t${key.slice(last + 1)}${value === undefined ? '' : ` = ${quoted(value)}`}\n`
  })
  return lines.join('')
}
