import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import type { MachineStanding } from '../../../hub/model/machine-standing.ts'
import type { MachineRules } from '../../../hub/model/tasks/machine-rules.ts'
import type { AgentNow } from '../../../hub/model/hub-state.ts'
import type { HubClient } from '../../../hub/client/hub-client.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { defined } from '../../../base/defined.ts'
import { localTimeFrom } from '../../../base/time/local-time.ts'
import { table } from '../../../base/text/table.ts'
import { diskByMachine, diskWords } from '../../../hub/model/tasks/agent-status.ts'
import { listedTime, print, say, UsageError } from '../../../core/io.ts'
import {
  allowedLimits,
  heldByMachine,
  labelsIn,
  limitIn,
  pauseWords,
  rulesWords,
  wholeHub,
} from '../../../hub/model/tasks/machine-rules.ts'
import { fleetVersions, linkWords, versionSkew } from '../../../hub/model/machine-standing.ts'
import { withHub } from '../../../hub/client/hub-client.ts'

/** Lists the machines of a hub, sets the labels and the limit of one, or frees the name of one that is offline. */
export async function showMachines(io: Io, values: Parsed['values'], words: readonly string[]): Promise<void> {
  const server = typeof values.server === 'string' ? values.server : undefined
  const [verb = 'list', name, ...more] = words
  if (verb !== 'set' && (values.labels !== undefined || values.limit !== undefined))
    throw new UsageError(`--labels and --limit are for hub machines set, not ${verb}.`)
  if (verb === 'forget' || verb === 'set') {
    if (name === undefined || more.length > 0)
      throw new UsageError(`hub machines ${verb} takes the name of one machine.`)
    return withHub(io, (hub) => (verb === 'set' ? changeMachine(io, hub, name, values) : forget(io, hub, name)), server)
  }
  if (verb !== 'list' || name !== undefined)
    throw new UsageError(`hub machines: found "${words.join(' ')}", allowed: list, set <name>, forget <name>.`)
  const [machines, rules, agents] = await withHub(
    io,
    (hub) => Promise.all([hub.operators.machines(), hub.operators.rules(), hub.agents()]),
    server,
  )
  list(io, { machines, rules, agents }, values.json === true)
}

async function forget(io: Io, hub: HubClient, name: string): Promise<void> {
  await hub.operators.forgetMachine(name)
  say(io, `The name ${name} is free: the next machine that links with it gets it.`)
}

async function changeMachine(io: Io, hub: HubClient, name: string, values: Parsed['values']): Promise<void> {
  const labels = typeof values.labels === 'string' ? labelsIn(values.labels) : undefined
  const limit = typeof values.limit === 'string' ? limitIn(values.limit) : undefined
  if (values.limit !== undefined && limit === undefined)
    throw new UsageError(`--limit: found "${values.limit}", allowed: ${allowedLimits}`)
  if (labels === undefined && limit === undefined)
    throw new UsageError('hub machines set: name --labels, --limit, or both.')
  const rules = await hub.operators.setMachine(name, defined({ labels, limit }))
  if (values.json) return print(io, JSON.stringify(rules))
  if (!(await hub.agents()).some(({ status }) => status?.machine === name))
    say(io, `No agent at the hub is on a machine ${name} yet: this counts when one comes.`)
  say(io, rulesWords(rules))
}

type Fleet = { machines: readonly MachineStanding[]; rules: readonly MachineRules[]; agents: readonly AgentNow[] }

/** Lists every machine that is linked, has agents or has rules. */
function list(io: Io, { machines, rules, agents }: Fleet, json: boolean): void {
  const held = heldByMachine(agents)
  const disks = diskByMachine(agents)
  const known = new Map(machines.map((one) => [one.machine, one]))
  const ruled = new Map(rules.map((one) => [one.machine, one]))
  const named = [...rules, ...agents.map(({ status }) => ({ machine: status?.machine ?? wholeHub }))]
  const names = new Set([...known.keys(), ...named.map(({ machine }) => machine)])
  names.delete(wholeHub)
  const rows = [...names].toSorted().map((machine) => {
    const on = agents.filter(({ status }) => status?.machine === machine)
    const { labels, limit, pause } = ruled.get(machine) ?? {}
    return defined({
      machine,
      ...known.get(machine),
      agents: on.length,
      tasks: held.get(machine) ?? 0,
      diskFree: disks.get(machine),
      labels,
      limit,
      pause,
    })
  })
  const paused = ruled.get(wholeHub)?.pause
  if (json) return print(io, JSON.stringify(rows))
  if (paused) say(io, `The hub is ${pauseWords(paused, agents.filter(({ task }) => task !== undefined).length)}.`)
  const now = io.clock.now()
  const cells = rows.map(
    ({
      machine,
      online,
      own,
      runsHub,
      since,
      version = '',
      offers = [],
      tasks,
      labels = [],
      limit,
      pause,
      agents,
      diskFree,
    }) => [
      machine,
      stateOf({ online, own, runsHub, pause, tasks }),
      since === undefined ? '' : listedTime(io, since, (at) => localTimeFrom(now, at)),
      version,
      agents === 0 ? '' : String(agents),
      limit === undefined ? (agents === 0 ? '' : String(tasks)) : `${tasks} of ${limit}`,
      diskFree === undefined ? '' : diskWords(diskFree),
      labels.join(', '),
      offers.join(', '),
    ],
  )
  const head = ['MACHINE', 'STATE', 'SINCE', 'VERSION', 'AGENTS', 'TASKS', 'DISK', 'LABELS', 'OFFERS']
  print(io, stripAnsi(table([head, ...cells])))
  const skew = versionSkew(fleetVersions(machines, agents))
  if (skew !== undefined) say(io, stripAnsi(skew))
}

type Shown = Partial<Pick<MachineStanding, 'online' | 'own' | 'runsHub'>> &
  Pick<MachineRules, 'pause'> & { tasks: number }

/** The state of a machine: its link, and its pause. */
function stateOf({ pause, tasks, ...known }: Shown): string {
  const link = linkWords(known)
  return pause ? `${link}, ${pauseWords(pause, tasks)}` : link
}
