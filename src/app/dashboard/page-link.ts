import type { LinkRole } from '../../core/work/sign-in.ts'
import type { LinkWish } from '../../hub/sign-ins.ts'
import type { HubClient } from '../hub/hub-client.ts'
import { localTimeFrom } from '../../base/local-time.ts'

/** The address of the page with the secret of a link, behind the sign that a browser never sends to a server. */
export const pageLink = (url: string, secret: string) => `${url}/#in=${secret}`

/**
 * Makes a link to the page of a running hub, and says how long it can be used. Without a wish it is for one use and gives the rights
 * of the key that it is made with.
 */
export async function makePageLink(
  hub: HubClient,
  wish: LinkWish | undefined,
  now: number,
): Promise<{ link: string; words: string }> {
  const { link, secret } = await hub.makeLink(wish ?? { role: (await hub.me()).role as LinkRole })
  const until = localTimeFrom(now, link.ends)
  const words = link.once
    ? `The link signs one browser in, until ${until}.`
    : `The link can be shared. It only reads, and it ends ${until}.`
  return { link: pageLink(hub.url, secret), words }
}
