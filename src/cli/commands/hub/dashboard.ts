import type { LinkWish } from '../../../hub/model/access/sign-in.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import type { Io } from '../../../core/io.ts'
import { faultOf, HubClient } from '../../../hub/client/hub-client.ts'
import { hubPlace, namedHub, usualPort } from '../../../hub/client/hub-address.ts'
import { makePageLink } from '../../../hub/client/page-link.ts'
import { qrWish, showQr } from '../../../hub/server/dashboard/page-qr.ts'
import { serveUntilEnded } from '../../../hub/server/hub-server.ts'
import { placeOf } from '../../../home/place.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { HubAway } from '../../../hub/engine/remote-hub.ts'
import { readSettings } from '../../../settings/settings.ts'

/** The default lifetime of a link for sharing. */
const usualHours = 24

/** Prints a link to the page of the running hub; starts a hub if none runs. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const { home } = placeOf(io)
  const server = typeof values.server === 'string' ? values.server : undefined
  const wish = wishIn(values)
  const qr = qrWish(values)
  const allowPrompts = values['allow-prompts'] === true
  const settings = await readSettings({ home }, { env: io.env })
  const hub = new HubClient(hubPlace(io, settings, server))
  try {
    const { link, words } = await makePageLink(hub, wish, io.clock.now())
    print(io, link)
    say(io, words)
    await showQr(io, link, qr)
    if (allowPrompts)
      say(
        io,
        'The hub runs already, and --allow-prompts changes nothing there: stop it with `termaite stop hub`, and start it again with the flag.',
      )
    return 0
  } catch (error) {
    const isOurs = namedHub(io, settings, server) === undefined
    if (!(error instanceof HubAway) || !isOurs || wish !== undefined) throw faultOf(hub, error)
  }
  await serveUntilEnded(io, home, { host: '127.0.0.1', port: usualPort, qr, allowPrompts })
  return 0
}

/** The request for a link to share; undefined for one that signs the person in. */
function wishIn({ 'read-only': readOnly, session, hours }: Parsed['values']): LinkWish | undefined {
  const lasting = hours === undefined ? usualHours : Number(hours)
  if (!(lasting > 0)) throw new UsageError(`--hours: found "${String(hours)}", allowed: a number above 0, as in 8.`)
  if (typeof session === 'string') return { role: 'guest', session, hours: lasting }
  if (readOnly) return { role: 'observer', hours: lasting }
  if (hours !== undefined)
    throw new UsageError('--hours is for a link to share: add --read-only, or --session <id> for one session.')
  return undefined
}
