import { createServer } from 'node:http'

export type Callback = {
  port: number
  /** What the browser came back with; undefined when it was not waited for any longer. */
  answer(state: string, signal: AbortSignal): Promise<URLSearchParams | undefined>
  close(): Promise<void>
}

const thanks = 'You can close this page and go back to termaite.\n'

/** Where a browser comes back to after a login: this machine alone, and only while one is under way. */
export async function listenForCallback(wanted = 0): Promise<Callback> {
  const answers: URLSearchParams[] = []
  let heard = () => {}
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const ours = request.method === 'GET' && url.pathname === '/callback'
    response.writeHead(ours ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end(ours ? thanks : '')
    if (!ours) return
    answers.push(url.searchParams)
    heard()
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(wanted, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  return {
    port,
    async answer(state, signal) {
      for (;;) {
        // Any page can send a browser here: what does not carry our state is nobody's answer.
        const found = answers.find((answer) => answer.get('state') === state)
        if (found || signal.aborted) return found
        await new Promise<void>((resolve) => {
          heard = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
