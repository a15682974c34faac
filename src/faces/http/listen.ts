import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'

export type Listening = { url: string; close(): Promise<void> }

/** Answers at an address until it is closed; whoever is still connected then is let go. */
export async function listen(
  answer: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
