import type { LinkWish } from '../../hub/sign-ins.ts'
import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import { localTimeFrom } from '../../base/local-time.ts'
import { faultOf, HubClient } from '../../app/hub/hub-client.ts'
import { hubPlace, usualPort } from '../../app/hub/hub-address.ts'
import { pageLink, serveUntilEnded } from '../../app/hub/hub-server.ts'
import { placeOf } from '../../app/place.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { HubAway } from '../../hub/remote-hub.ts'
import { readSettings } from '../../settings/settings.ts'

/** How long a link that is made to be shared lasts. */
const usualHours = 24

/** Prints a link to the page of the hub that runs; where none does, runs one. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const { home } = placeOf(io)
  const server = typeof values.server === 'string' ? values.server : undefined
  const wish = wishIn(values)
  const settings = await readSettings({ home }, { env: io.env })
  const hub = new HubClient(hubPlace(io, settings, server))
  try {
    const { link, secret } = await hub.makeLink(wish)
    print(io, pageLink(hub.url, secret))
    const until = localTimeFrom(io.clock.now(), link.ends)
    say(
      io,
      link.once
        ? `The link signs one browser in, until ${until}.`
        : `The link can be shared. It only reads, and it ends ${until}.`,
    )
    return 0
  } catch (error) {
    if (!(error instanceof HubAway) || server !== undefined || wish.role !== 'admin') throw faultOf(hub, error)
  }
  await serveUntilEnded(io, home, { host: '127.0.0.1', port: usualPort })
  return 0
}

function wishIn({ 'read-only': readOnly, session, hours }: Parsed['values']): LinkWish {
  const lasting = hours === undefined ? usualHours : Number(hours)
  if (!(lasting > 0)) throw new UsageError(`--hours: found "${String(hours)}", allowed: a number above 0, as in 8.`)
  if (typeof session === 'string') return { role: 'guest', session, hours: lasting }
  if (readOnly) return { role: 'observer', hours: lasting }
  if (hours !== undefined)
    throw new UsageError('--hours is for a link to share: add --read-only, or --session <id> for one session.')
  return { role: 'admin' }
}
