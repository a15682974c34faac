import type { ProjectBounds } from '../path-location.ts'
import type { Finding, Touch, Touched } from './shell-judgement.ts'
import type { Word } from './simple-command.ts'
import { readdir } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { locatePath } from '../path-location.ts'
import { isWithin } from '../../base/real-path.ts'
import { isSecretName } from '../secret-files.ts'
import { worse } from './shell-judgement.ts'

export type TouchWorld = ProjectBounds & { cwds: readonly string[] | undefined }

const nothing: Finding = { class: 'reads', why: '' }

/** Judges that a command touches the file that a word names, in every folder it may run in. */
export async function touching(
  word: Word,
  how: Touch,
  world: TouchWorld,
): Promise<{ finding: Finding; paths: Touched[] }> {
  if (!word.values) return { finding: { class: 'dynamic', why: `${word.text} is only known when it runs` }, paths: [] }
  let finding = nothing
  const paths: Touched[] = []
  for (const value of word.values) {
    // An empty name is not a file, and a lone dash is standard input.
    if (value === '' || value === '-') continue
    const folders = isAbsolute(value) ? ['/'] : world.cwds
    if (!folders)
      return { finding: { class: 'dynamic', why: `where ${word.text} lies is only known when it runs` }, paths }
    for (const folder of folders) {
      const path = isAbsolute(value) ? value : join(folder, value)
      const one = word.glob && /[*?[]/.test(value) ? await matching(path, how, world) : await touched(path, how, world)
      finding = worse(finding, one.finding)
      paths.push(...one.paths)
    }
  }
  return { finding, paths }
}

async function touched(
  path: string,
  how: Touch,
  bounds: ProjectBounds,
): Promise<{ finding: Finding; paths: Touched[] }> {
  const spot = await locatePath(path, bounds)
  const paths: Touched[] = [{ path, real: spot.real, how }]
  const finding = (kind: Finding['class'], why: string) => ({ finding: { class: kind, why }, paths })
  if (spot.device && how === 'run') return finding('dynamic', 'it runs what it is fed')
  if (spot.device) return { finding: nothing, paths: [] }
  const removes = how === 'remove'
  if (removes && (spot.real === bounds.root || isWithin(spot.real, bounds.root)))
    return finding('destructive', `it removes ${path}, and the project with it`)
  if (removes && spot.guarded) return finding('destructive', `it removes ${path}, which git or termaite needs`)
  if (removes && !spot.inside) return finding('destructive', `it removes ${path}, outside the project`)
  if (spot.secret) return finding('secrets', `${path} may hold secrets`)
  if (!spot.inside && !(how === 'read' && spot.readable)) return finding('outside', `${path} is outside the project`)
  if (how === 'write' && spot.guarded) return finding('system', `a change of ${path} could make programs run`)
  const kinds = { read: 'reads', write: 'edits', remove: 'removes', run: 'runs' } as const
  const words = { read: 'looks at', write: 'changes', remove: 'removes', run: 'runs' } as const
  return finding(kinds[how], `it ${words[how]} ${path}`)
}

/** Judges a pattern by the folder where it starts, and by whether it can match a file that holds secrets. */
async function matching(
  path: string,
  how: Touch,
  bounds: ProjectBounds,
): Promise<{ finding: Finding; paths: Touched[] }> {
  const parts = path.split('/')
  const first = parts.findIndex((part) => /[*?[]/.test(part))
  const folder = parts.slice(0, first).join('/') || '/'
  const base = await touched(folder, how === 'remove' ? 'read' : how, bounds)
  let { finding } = base
  // A pattern may match any folder below, and a link there leads anywhere.
  if (parts.slice(first).includes('..'))
    finding = worse(finding, { class: 'dynamic', why: `where ${path} leads is not known` })
  if (how === 'remove') {
    const all = first === parts.length - 1 && /^\.?\*+$/.test(parts[first]!)
    const whole = all && isWithin(folder, bounds.root)
    finding = worse(
      finding,
      whole || finding.class === 'outside'
        ? { class: 'destructive', why: `it removes everything in ${folder}` }
        : { class: 'removes', why: `it removes ${path}` },
    )
  }
  const names = await secretsMatching(path, first === parts.length - 1)
  if (names) finding = worse(finding, { class: 'secrets', why: `${path} meets ${names}, which may hold secrets` })
  return { finding, paths: base.paths.map((one) => ({ ...one, path })) }
}

/** Sample names of secret files, for folders that cannot be listed. */
const samples = [
  '.env',
  '.env.local',
  'id_rsa',
  'server.pem',
  'server.key',
  '.npmrc',
  '.netrc',
  'credentials',
  'credentials.json',
  'secrets.yml',
]

async function secretsMatching(path: string, lastOnly: boolean): Promise<string | undefined> {
  const pattern = wild(basename(path))
  const fits = (name: string) => pattern.test(name) && (!name.startsWith('.') || basename(path).startsWith('.'))
  if (!lastOnly) return /^\*+$/.test(basename(path)) ? undefined : samples.find(fits)
  const there = await readdir(dirname(path)).catch(() => samples)
  return there.find((name) => fits(name) && isSecretName(name))
}

function wild(pattern: string): RegExp {
  const body = pattern
    .replace(/[\\^$.+(){}|]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.')
    .replace(/\[!/g, '[^')
  try {
    return new RegExp(`^${body}$`)
  } catch {
    return /^/
  }
}
