import type { TmuxServer } from './server.ts'

/** When somebody who looks at a pane last pressed a key; what is sent by a command is nobody's key. */
export async function lastTouch(server: TmuxServer, pane: string): Promise<number> {
  const format = '#{pane_id} #{client_control_mode} #{client_created} #{client_activity}'
  const told = await server.ask([['list-clients', '-F', format]])
  const times = told.split('\n').map((line) => {
    const [shown, program, since, last] = line.split(' ')
    // Whoever has only come has pressed nothing yet.
    return shown === pane && program !== '1' && Number(last) > Number(since) ? Number(last) * 1000 : 0
  })
  return Math.max(0, ...times)
}
