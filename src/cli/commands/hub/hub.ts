import type { AgentNow } from '../../../hub/model/hub-state.ts'
import type { ListedKey, NewKey } from '../../../hub/model/access/hub-key.ts'
import type { HubRole } from '../../../hub/model/access/hub-key.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { defined } from '../../../base/defined.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { table } from '../../../base/text/table.ts'
import { listedTime, print, say, UsageError } from '../../../core/io.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { hubProtocol } from '../../../hub/model/hub-protocol.ts'
import { agentState, agentStates, stateWords } from '../../../hub/model/tasks/agent-status.ts'
import { shortId, withHub } from '../../../hub/client/hub-client.ts'
import { withKeys } from '../../../hub/server/key-desk.ts'
import { durationOf } from '../../arguments/args.ts'

const verbs = ['list', 'add', 'rotate', 'revoke']
/** Other names of a verb. */
const alike: Readonly<Record<string, string>> = { remove: 'revoke' }

export async function run(io: Io, { values, words: [noun = 'keys', ...words] }: Parsed): Promise<number> {
  const server = typeof values.server === 'string' ? values.server : undefined
  if (noun === 'agents') {
    const agents = await withHub(io, (hub) => hub.agents(), server)
    listAgents(io, agents, values.json === true)
    return 0
  }
  if (noun === 'audit') {
    const { showAudit } = await import('./hub-audit.ts')
    await showAudit(io, values, server)
    return 0
  }
  if (noun === 'invite') {
    const { invite } = await import('./hub-invite.ts')
    return invite(io, values, words)
  }
  if (noun === 'prune') {
    const { prune } = await import('./hub-prune.ts')
    return prune(io, values, words)
  }
  const [typed = 'list', ...rest] = words
  if (noun === 'machines') {
    const { showMachines } = await import('./hub-machines.ts')
    await showMachines(io, values, [typed, ...rest])
    return 0
  }
  const { isPauseVerb, pauseVerbs, runPause } = await import('./hub-pause.ts')
  if (isPauseVerb(noun)) return runPause(io, { verb: noun, values, words })
  if (noun !== 'keys') {
    const { isLedgerVerb, ledgerVerbs, runLedger } = await import('./hub-ledger.ts')
    if (isLedgerVerb(noun)) return runLedger(io, { verb: noun, values, words })
    throw new UsageError(
      `hub: found "${noun}", allowed: agents, audit, invite, keys, machines, prune, ${[...pauseVerbs, ...ledgerVerbs].join(', ')}.`,
    )
  }
  const verb = alike[typed] ?? typed
  if (!verbs.includes(verb)) throw new UsageError(`hub keys: found "${typed}", allowed: ${verbs.join(', ')}.`)
  const json = values.json === true
  if (values.role !== undefined && verb !== 'add') throw new UsageError(`--role is for hub keys add, not ${verb}.`)
  if (values.grace !== undefined && verb !== 'rotate')
    throw new UsageError(`--grace is for hub keys rotate, not ${verb}.`)
  if (values.expires !== undefined && verb !== 'add' && verb !== 'rotate')
    throw new UsageError(`--expires is for hub keys add and rotate, not ${verb}.`)
  const time = (flag: 'grace' | 'expires') =>
    typeof values[flag] === 'string' ? durationOf(flag, values[flag]) : undefined
  const [graceMs, lifeMs] = [time('grace'), time('expires')]
  const name = verb === 'list' ? '' : nameIn(verb, rest)
  const role = (values.role ?? 'agent') as HubRole
  await withKeys(
    io,
    async (desk) => {
      if (verb === 'list') list(io, await desk.keys(), json)
      else if (verb === 'add') printNewKey(io, await desk.addKey(name, role, lifeMs), json)
      else if (verb === 'rotate') printNewKey(io, await desk.rotateKey(name, defined({ graceMs, lifeMs })), json)
      else printRevoked(io, await desk.revokeKey(name), json)
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

/** Lists the agents with their states; agents that need a person come first. */
function listAgents(io: Io, agents: AgentNow[], json: boolean): void {
  const now = io.clock.now()
  const when = (at: number) => localTimeFrom(now, at)
  const rows = agents
    .map((agent) => ({ ...agent, state: agentState(agent, now) }))
    .toSorted((a, b) => agentStates.indexOf(a.state) - agentStates.indexOf(b.state) || (a.id < b.id ? -1 : 1))
  if (json) return print(io, JSON.stringify(rows))
  if (rows.length === 0) return say(io, 'No agent is registered. Start one in a project with: termaite agent')
  const versions = rows.some((agent) => agent.version !== undefined)
  const cells = rows.map((agent) => [
    agent.id,
    agent.source,
    stateWords(agent, now, when),
    agent.status?.machine ?? '',
    agent.role,
    agent.task === undefined ? '' : shortId(agent.task),
    agent.tokens === undefined ? '' : groupDigits(agent.tokens),
    agent.cost === undefined ? '' : `$${agent.cost.toFixed(2)}`,
    listedTime(io, agent.seen, when),
    ...(versions ? [agent.version ?? 'unknown'] : []),
  ])
  const head = ['AGENT', 'SOURCE', 'STATE', 'MACHINE', 'ROLE', 'TASK', 'TOKENS', 'COST', 'LAST SEEN']
  print(io, stripAnsi(table([[...head, ...(versions ? ['VERSION'] : [])], ...cells])))
  const older = rows.filter(({ version, protocol = 1 }) => version !== undefined && protocol < hubProtocol)
  const silent = rows.filter(({ version, source }) => versions && source === 'CLI' && version === undefined)
  if (silent.length > 0)
    say(
      io,
      `Not known whether termaite runs ${silent.map(({ id }) => stripAnsi(id)).join(', ')}: no version was reported, so no tasks of repositories are given there. If it is termaite, update it: npm install -g termaite@latest`,
    )
  if (older.length > 0)
    say(
      io,
      `An older termaite runs ${older.map(({ id }) => stripAnsi(id)).join(', ')}, and is given no tasks of repositories. Update it on the machine of each: npm install -g termaite@latest`,
    )
}

function list(io: Io, keys: ListedKey[], json: boolean): void {
  if (json) return print(io, JSON.stringify(keys))
  const now = io.clock.now()
  const when = (at: number | undefined) => (at === undefined ? '' : localTimeFrom(now, at))
  const past = (at: number | undefined) => (at === undefined ? '' : listedTime(io, at, when))
  // Most hubs have no key that expires.
  const hasEnds = keys.some(({ ends, oldEnds }) => ends !== undefined || oldEnds !== undefined)
  const rows = keys.map((key) => [
    key.name,
    key.role,
    key.id,
    past(key.made),
    past(key.used),
    ...(hasEnds ? [endWords(key, now, when)] : []),
    key.id === 'own'
      ? hasEnds
        ? 'this machine'
        : 'this machine (in hub.key)'
      : key.lent
        ? `${key.by}, for one run`
        : key.by,
  ])
  print(io, table([['NAME', 'ROLE', 'ID', 'MADE', 'LAST USED', ...(hasEnds ? ['ENDS'] : []), 'MADE BY'], ...rows]))
}

/** When a key expires or expired, and when its previous secret expires. */
function endWords({ ends, oldEnds }: ListedKey, now: number, when: (at: number) => string): string {
  const own = ends === undefined ? [] : [ends > now ? when(ends) : `ended ${when(ends)}`]
  return [...own, ...(oldEnds === undefined ? [] : [`old key: ${when(oldEnds)}`])].join(', ')
}

/** Prints only the new secret on stdout, so that a script can store it; everything else goes to stderr. */
function printNewKey(io: Io, made: NewKey | { file: string }, json: boolean): void {
  if ('file' in made) {
    if (json) print(io, JSON.stringify(made))
    else say(io, `The new key is in ${made.file}. The old one no longer works.`)
    return
  }
  const { key, secret } = made
  if (json) return print(io, JSON.stringify({ ...key, key: secret }))
  const when = (at: number) => localTimeFrom(io.clock.now(), at)
  if (key.oldEnds !== undefined) say(io, `The old key of ${key.name} still works until ${when(key.oldEnds)}.`)
  if (key.ends !== undefined) say(io, `The new key expires: ${when(key.ends)}.`)
  say(io, `The key of ${key.name} (${key.role}). It is shown only once. Give it to the client as TERMAITE_HUB_KEY:`)
  print(io, secret)
}

function printRevoked(io: Io, key: ListedKey, json: boolean): void {
  if (json) print(io, JSON.stringify(key))
  else say(io, `The key of ${key.name} (${key.role}) no longer works.`)
}
