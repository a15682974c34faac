import type { Io } from '../../core/io.ts'
import type { LinkRole } from '../model/access/sign-in.ts'
import type { LinkWish } from '../model/access/sign-in.ts'
import type { HubClient } from './hub-client.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { runningHub } from '../../border/running-processes.ts'

/** The address of the page with the secret of a link after the `#`, which a browser never sends to a server. */
export const pageLink = (url: string, secret: string) => `${url}/#in=${secret}`

/** The part of the page that shows a task, an agent or a session. */
export const taskView = (id: string) => `tasks/${encodeURIComponent(id)}`
export const agentView = (id: string) => `agents/${encodeURIComponent(id)}`
export const sessionView = (id: string) => `sessions/${encodeURIComponent(id)}`

/** The address of one part of the page; undefined if there is no page. */
export const viewAddress = (page: string | undefined, view: string) => page && `${page}/#/${view}`

/** The address of the page of the hub that the person named, otherwise of the hub that runs on this home; undefined if no hub runs. */
export function pageAddress(
  { env }: Pick<Io, 'env'>,
  { hub }: { hub?: { url?: string | undefined } },
  home: string,
): string | undefined {
  const named = env.TERMAITE_HUB ?? hub?.url
  const running = named === undefined ? runningHub(home) : undefined
  return (named ?? running?.page ?? running?.url)?.replace(/\/+$/, '')
}

/**
 * Makes a link to the page of a running hub, and says how long the link works. By default it works once and grants the rights of the key
 * that makes it. A hub that knows its public address uses that address in the link.
 */
export async function makePageLink(
  hub: HubClient,
  wish: LinkWish | undefined,
  now: number,
): Promise<{ link: string; words: string }> {
  const { link, secret, page } = await hub.makeLink(wish ?? { role: (await hub.me()).role as LinkRole })
  const until = localTimeFrom(now, link.ends)
  const words = link.once
    ? `The link signs one browser in, until ${until}.`
    : `The link can be shared. It only allows reading, and it expires ${until}.`
  return { link: pageLink(page ?? hub.url, secret), words }
}
