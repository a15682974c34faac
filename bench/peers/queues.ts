import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The queues beside which the hub is measured, pinned. */
const folder = join(import.meta.dirname, 'queues')

/** A queue in PostgreSQL as a program would use it: it has handlers in this process, and no HTTP. */
export type QueuePeer = {
  name: string
  add(number: number): Promise<unknown>
  close(): Promise<unknown>
}

/** Opens a queue whose handlers, `atOnce` of them at the same time, only tell which job they have. */
export type OpenQueue = (address: string, atOnce: number, had: (number: number) => void) => Promise<QueuePeer>

type Job = { number: number }

/** The packages are installed when they are wanted, so their types are not there when ours are checked. */
type Graphile = {
  run(options: object): Promise<{ addJob(name: string, job: Job): Promise<unknown>; stop(): Promise<void> }>
  Logger: new (make: () => () => void) => object
}
type Boss = {
  PgBoss: new (options: object) => {
    on(event: 'error', heard: (error: Error) => void): void
    start(): Promise<unknown>
    createQueue(name: string, options: object): Promise<void>
    work(name: string, options: object, handler: (jobs: { data: Job }[]) => Promise<void>): Promise<string>
    send(name: string, job: Job): Promise<unknown>
    stop(options: object): Promise<void>
  }
}

export const queues: Readonly<Record<string, OpenQueue>> = {
  async 'graphile-worker'(address, atOnce, had) {
    const { run, Logger } = await load<Graphile>('graphile-worker')
    const taskList = { job: async ({ number }: Job) => had(number) }
    const logger = new Logger(() => () => {})
    const connection = { connectionString: address, maxPoolSize: 20 }
    const runner = await run({ ...connection, taskList, concurrency: atOnce, noHandleSignals: true, logger })
    return { name: 'graphile-worker', add: (number) => runner.addJob('job', { number }), close: () => runner.stop() }
  },
  async 'pg-boss'(address, atOnce, had) {
    const { PgBoss } = await load<Boss>('pg-boss')
    const boss = new PgBoss({ connectionString: address, max: 20, useListenNotify: true })
    boss.on('error', (error) => console.log(`pg-boss: ${error.message}`))
    await boss.start()
    await boss.createQueue('job', { notify: true })
    const batchSize = 5
    const wish = {
      batchSize,
      localConcurrency: atOnce / batchSize,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
    }
    await boss.work('job', wish, async (jobs) => {
      for (const { data } of jobs) had(data.number)
    })
    return {
      name: 'pg-boss',
      add: (number) => boss.send('job', { number }),
      close: () => boss.stop({ graceful: false, close: true }),
    }
  },
}

/** Installs the queues where they are missing; says why they cannot be measured, or nothing. */
export function installQueues(): string | undefined {
  if (existsSync(join(folder, 'node_modules'))) return undefined
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  return status === 0 ? undefined : 'npm could not install bench/peers/queues'
}

async function load<T>(name: string): Promise<T> {
  return (await import(createRequire(join(folder, 'package.json')).resolve(name))) as T
}
