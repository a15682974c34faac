import type { ListedKey, NewKey } from '../../hub/hub-keys.ts'
import type { HubRole } from '../../core/work/hub-key.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import { localTimeFrom } from '../../base/local-time.ts'
import { table } from '../../base/table.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { withKeys } from '../../app/hub/key-desk.ts'

const verbs = ['list', 'add', 'rotate', 'revoke']
/** Other words for a verb. */
const alike: Readonly<Record<string, string>> = { remove: 'revoke' }

export async function run(
  io: Io,
  { values, words: [noun = 'keys', typed = 'list', ...rest] }: Parsed,
): Promise<number> {
  if (noun !== 'keys') throw new UsageError(`hub: found "${noun}", allowed: keys.`)
  const verb = alike[typed] ?? typed
  if (!verbs.includes(verb)) throw new UsageError(`hub keys: found "${typed}", allowed: ${verbs.join(', ')}.`)
  const json = values.json === true
  if (values.role !== undefined && verb !== 'add') throw new UsageError(`--role is for hub keys add, not ${verb}.`)
  const name = verb === 'list' ? '' : nameIn(verb, rest)
  const role = (values.role ?? 'agent') as HubRole
  const server = typeof values.server === 'string' ? values.server : undefined
  await withKeys(
    io,
    async (desk) => {
      if (verb === 'list') list(io, await desk.keys(), json)
      else if (verb === 'add') shown(io, await desk.addKey(name, role), json)
      else if (verb === 'rotate') shown(io, await desk.rotateKey(name), json)
      else revoked(io, await desk.revokeKey(name), json)
    },
    server,
  )
  return 0
}

function nameIn(verb: string, [name, ...more]: string[]): string {
  const wanted = verb === 'add' ? 'the name of the client' : 'the name or id of a key'
  if (name === undefined) throw new UsageError(`hub keys ${verb}: ${wanted} is missing.`)
  if (more.length > 0)
    throw new UsageError(`hub keys ${verb} takes ${wanted}, but found "${[name, ...more].join(' ')}".`)
  return name
}

function list(io: Io, keys: ListedKey[], json: boolean): void {
  if (json) return print(io, JSON.stringify(keys))
  const now = io.clock.now()
  const rows = keys.map(({ id, name, role, made, by, used, lent }) => [
    name,
    role,
    id,
    localTimeFrom(now, made),
    used === undefined ? '' : localTimeFrom(now, used),
    id === 'own' ? 'this machine (in hub.key)' : lent ? `${by}, for one run` : by,
  ])
  print(io, table([['NAME', 'ROLE', 'ID', 'MADE', 'LAST USED', 'MADE BY'], ...rows]))
}

/** Prints a new secret alone on stdout, so that a script can keep it; everything else goes to stderr. */
function shown(io: Io, made: NewKey | { file: string }, json: boolean): void {
  if ('file' in made) {
    if (json) print(io, JSON.stringify(made))
    else say(io, `The new key is in ${made.file}. The old one no longer works.`)
    return
  }
  const { key, secret } = made
  if (json) return print(io, JSON.stringify({ ...key, key: secret }))
  say(io, `The key of ${key.name} (${key.role}). It is shown only once. Give it to the client as TERMAITE_HUB_KEY:`)
  print(io, secret)
}

function revoked(io: Io, key: ListedKey, json: boolean): void {
  if (json) print(io, JSON.stringify(key))
  else say(io, `The key of ${key.name} (${key.role}) no longer works.`)
}
