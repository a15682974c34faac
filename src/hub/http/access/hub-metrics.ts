import type { ServerResponse } from 'node:http'
import type { HubNumbers } from '../../model/tasks/hub-vitals.ts'

/** The content type of the Prometheus text format. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]
type Kind = 'counter' | 'gauge'

/** The groups of paths by which requests are counted; whole paths would create a label for every id. */
const routeClasses = [
  [/^\/(?:healthz|readyz|metrics)$/, 'operator'],
  [/^\/mcp$/, 'mcp'],
  [/^\/api\/events$/, 'events'],
  [/^\/api\/agents\/[^/]+\/wait$/, 'wait'],
  [/^\/api\/agents(?:\/|$)/, 'agents'],
  [/^\/api\/(?:tasks|pipelines|schedules|attachments)(?:\/|$)/, 'tasks'],
  [/^\/api\/(?:sign-in|sign-ins|links|keys|lent-keys|me|audit)(?:\/|$)/, 'access'],
  [/^\/api\//, 'api'],
] as const

/** Counts the requests and connections of one hub, and formats all of its numbers for Prometheus. */
export class HubMetrics {
  #requests = new Map<string, number>()
  #open = 0
  #sockets: () => number
  #version: string

  /** `sockets` says how many WebSockets are open. */
  constructor(version: string, sockets: () => number) {
    this.#version = version
    this.#sockets = sockets
  }

  /** Counts a request when its answer is complete; a client that hangs up before that is counted with the status 499, as proxies do. */
  count(path: string, response: ServerResponse): void {
    const route = routeClasses.find(([form]) => form.test(path))?.[1] ?? 'page'
    this.#open++
    response.once('close', () => {
      this.#open--
      const status = response.headersSent ? response.statusCode : 499
      const key = `${route} ${status}`
      this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1)
    })
  }

  /** All numbers in the text format of Prometheus. */
  text(numbers: HubNumbers): string {
    const requests = [...this.#requests].map(([key, count]): Sample => {
      const [route = '', status = ''] = key.split(' ')
      return [{ route, status }, count]
    })
    const states = Object.entries(numbers.tasks).map(([state, count]): Sample => [{ state }, count])
    return [
      metric('gauge', 'build_info', 'The version of termaite that runs.', [[{ version: this.#version }, 1]]),
      metric('gauge', 'tasks', 'Tasks in the ledger by state.', states),
      metric(
        'gauge',
        'oldest_waiting_task_seconds',
        'How long the oldest task that could begin has waited for an agent; 0 if none waits.',
        [[{}, (numbers.oldestWaitingMs ?? 0) / 1000]],
      ),
      metric('gauge', 'ledger_bytes', 'The bytes that the ledger takes, in its file or its tables.', [
        [{}, numbers.ledgerBytes],
      ]),
      ...(numbers.diskFreeBytes === undefined
        ? []
        : [
            metric('gauge', 'disk_free_bytes', 'The bytes that are free on the disk of the ledger.', [
              [{}, numbers.diskFreeBytes],
            ]),
          ]),
      metric('gauge', 'paused', 'What operators have paused or drained: the hub (1 or 0), machines and agents.', [
        [{ of: 'hub' }, numbers.paused.hub ? 1 : 0],
        [{ of: 'machines' }, numbers.paused.machines],
        [{ of: 'agents' }, numbers.paused.agents],
      ]),
      metric(
        'gauge',
        'full_machines',
        'Machines whose agents have as many tasks as the limit of the machine lets them.',
        [[{}, numbers.fullMachines]],
      ),
      metric('gauge', 'waiting_agents', 'Agents that wait for a task at this hub.', [[{}, numbers.waitingAgents]]),
      metric('counter', 'claims_total', 'Tasks that this hub gave to an agent.', [[{}, numbers.claims]]),
      metric(
        'counter',
        'returns_total',
        'Tasks that the hub put back into the queue, mostly because their agent was silent.',
        [[{}, numbers.returns]],
      ),
      metric('counter', 'rounds_total', 'Rounds of changes that this hub wrote into the ledger.', [
        [{}, numbers.rounds],
      ]),
      metric('counter', 'ledger_errors_total', 'Rounds and checks that the ledger did not answer.', [
        [{}, numbers.ledgerErrors],
      ]),
      wakeText(numbers),
      metric('gauge', 'open_requests', 'Requests whose answer is not complete, waiting agents and streams included.', [
        [{}, this.#open],
      ]),
      metric('gauge', 'open_sockets', 'WebSockets that are open.', [[{}, this.#sockets()]]),
      metric('counter', 'http_requests_total', 'Requests by group of paths and status.', requests),
    ].join('')
  }
}

function wakeText({ wake: { bounds, counts, sum, count } }: HubNumbers): string {
  const name = 'termaite_hub_wake_seconds'
  const buckets = bounds.map((bound, place) => `${name}_bucket{le="${bound}"} ${counts[place] ?? 0}\n`)
  return [
    head('histogram', name, 'Time from the moment at which a task could be given out to the moment at which it was.'),
    ...buckets,
    `${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${sum}\n${name}_count ${count}\n`,
  ].join('')
}

function metric(kind: Kind, short: string, help: string, samples: readonly Sample[]): string {
  const name = `termaite_hub_${short}`
  return head(kind, name, help) + samples.map(([labels, value]) => `${name}${labelText(labels)} ${value}\n`).join('')
}

const head = (kind: string, name: string, help: string) => `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`

function labelText(labels: Readonly<Record<string, string>>): string {
  const all = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`,
  )
  return all.length === 0 ? '' : `{${all.join(',')}}`
}
