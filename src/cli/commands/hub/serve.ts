import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { defined } from '../../../base/defined.ts'
import { qrWish } from '../../../hub/server/dashboard/page-qr.ts'
import { hubPlace, usualPort } from '../../../hub/client/hub-address.ts'
import { serveUntilEnded } from '../../../hub/server/hub-server.ts'
import { retentionTime } from '../../../hub/server/retention-time.ts'
import { isBehindWall, passThroughSeat } from '../../../border/seat-channel.ts'
import { UsageError } from '../../../core/io.ts'
import { placeOf } from '../../../home/place.ts'
import { readSettings } from '../../../settings/settings.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  if (values['stdio-proxy'] && isBehindWall(io.env)) return passThroughSeat(io, ['serve', '--stdio-proxy'])
  const place = placeOf(io)
  if (values.server !== undefined && !values['stdio-proxy'])
    throw new UsageError('--server names the hub of a --stdio-proxy. To run a hub at another port, use --port.')
  if (values['stdio-proxy']) {
    const { serveProxy } = await import('../../../hub/server/hub-proxy.ts')
    const settings = await readSettings({ home: place.home }, { env: io.env })
    const server = typeof values.server === 'string' ? values.server : undefined
    await serveProxy(io, () => hubPlace(io, settings, server))
    return 0
  }
  const port = portOf(values.port)
  const host = typeof values.host === 'string' ? values.host : '127.0.0.1'
  const word = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
  await serveUntilEnded(
    io,
    place.home,
    defined({
      host,
      port,
      publicUrl: word('public-url'),
      ledger: word('ledger'),
      tlsCert: word('tls-cert'),
      tlsKey: word('tls-key'),
      behindProxy: word('behind-proxy'),
      innerUrl: word('inner-url'),
      keepFinishedMs: retentionTime('--keep-finished', word('keep-finished')),
      qr: qrWish(values),
      allowPrompts: values['allow-prompts'] === true,
    }),
  )
  return 0
}

function portOf(value: Parsed['values'][string]): number {
  if (value === undefined) return usualPort
  const port = Number(value)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port: found "${String(value)}", allowed: 0 (any free one) to 65535.`)
  return port
}
