import type { Server, Socket } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'

/**
 * The fault of the next commit on the line. `answer-lost`: the server commits, and the answer is lost. `never-sent`: the commit is lost,
 * and the server notices. `stuck`: the commit is lost, and the server does not notice that its client is gone.
 */
export type Fault = 'answer-lost' | 'never-sent' | 'stuck'

/** A line between a ledger and its database that can be cut in the middle of a commit. */
export class PostgresLine {
  /** The folder of the socket that the ledger connects to. */
  readonly folder = mkdtempSync('/tmp/tpl-')
  #server: Server
  #sockets = new Set<Socket>()
  #next: Fault | undefined
  #happened: (() => void) | undefined

  constructor(behind: string) {
    this.#server = createServer((client) => {
      const server = connect(join(behind, '.s.PGSQL.5432'))
      for (const socket of [client, server]) {
        this.#sockets.add(socket)
        socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
      }
      let isCut = false
      client.on('data', (data) => {
        // A commit comes alone or as the last of several statements.
        const fault = data.includes('COMMIT') ? this.#next : undefined
        if (fault === undefined) return void server.write(data)
        this.#next = undefined
        isCut = true
        if (fault === 'answer-lost') {
          server.once('data', () => {
            client.destroy()
            this.#happened?.()
          })
          server.write(data)
        } else {
          if (fault === 'never-sent') server.destroy()
          client.destroy()
          this.#happened?.()
        }
      })
      server.on('data', (data) => isCut || client.write(data))
      server.on('close', () => client.destroy())
      client.on('close', () => isCut || server.destroy())
    })
  }

  async open(): Promise<this> {
    this.#server.listen(join(this.folder, '.s.PGSQL.5432'))
    await once(this.#server, 'listening')
    return this
  }

  address(database: string): string {
    return `postgres:///${database}?host=${this.folder}&user=postgres`
  }

  /** Lets the next commit fail; resolves when it has. */
  cut(fault: Fault): Promise<void> {
    this.#next = fault
    return new Promise((resolve) => (this.#happened = resolve))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
    rmSync(this.folder, { recursive: true, force: true })
  }
}
