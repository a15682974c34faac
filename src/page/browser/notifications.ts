import type { InboxKind } from '../../hub/model/tasks/inbox.ts'
import { computed, effect, signal } from '@preact/signals'
import { standing } from './hub/page-connection.ts'
import { inbox } from './hub/page-state.ts'
import { linkOf } from './inbox/inbox-row.tsx'
import { firstLine } from './words/words.ts'

/** Something that needs this person, in the form of a notification: only its kind and its title, and none of its text. */
type Need = { tag: string; title: string; view: string }

const kinds: Readonly<Record<InboxKind, string>> = {
  asks: '',
  blocked: 'Blocked: ',
  review: 'Review: ',
  failed: 'Failed: ',
  mention: 'You are mentioned: ',
  parked: '',
  cap: '',
  disk: '',
}

const longest = 80
const short = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

const needs = computed((): Need[] =>
  inbox.value
    .filter(({ needsMe }) => needsMe)
    .map((row) => ({ tag: row.id, title: short(`${kinds[row.kind]}${firstLine(row.title)}`), view: linkOf(row) })),
)

/** Whether this browser lets the page show notifications; `impossible` means plain HTTP from another machine. */
type Permission = 'impossible' | 'default' | 'granted' | 'denied'

export const permission = signal<Permission>(permissionNow())

function permissionNow(): Permission {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'impossible'
}

/** Asks the browser for permission. This must be called from a person's click. */
export async function allowNotifications(): Promise<void> {
  await Notification.requestPermission()
  permission.value = permissionNow()
}

/** If there are more notifications than this at once, one sums them up. */
const mostAtOnce = 3
const manyTag = 'termaite-many'

/** The needs that existed before or were already notified; undefined until the page has read the hub's state. */
let known: ReadonlySet<string> | undefined
/** Resolves when all notifications so far have been shown and closed. */
let last: Promise<void> = Promise.resolve()
/** Whether this window shows the notifications: of several windows only one does. */
let isTeller = false

/**
 * Notifies a person who is in another window or program about everything that newly needs them, and closes notifications that were dealt
 * with. The number on the icon of an installed page is that of the inbox.
 */
export function startNotifications(): void {
  becomeTeller(false)
  addEventListener('focus', () => becomeTeller(true))
  effect(() => {
    const now = needs.value
    if (standing.value !== 'live') return
    const badge = now.length > 0 ? navigator.setAppBadge?.(now.length) : navigator.clearAppBadge?.()
    badge?.catch(() => {})
    const fresh = known === undefined ? [] : now.filter(({ tag }) => !known!.has(tag))
    known = new Set(now.map(({ tag }) => tag))
    if (!isTeller || permission.value !== 'granted') return
    const told = document.hasFocus() ? [] : fresh
    // The steps run one after another, so that a notification is first shown and then closed, never the other way round.
    last = last
      .then(() => tell(told))
      .then(() => takeBack(known!))
      .catch(() => {})
  })
}

/** The window that the person used last shows notifications: it has a lock that the browser gives to only one window at a time. */
function becomeTeller(steal: boolean): void {
  if (!('locks' in navigator)) {
    isTeller = true
    return
  }
  if (steal && isTeller) return
  navigator.locks
    .request('termaite-notifications', { steal }, () => {
      isTeller = true
      return new Promise(() => {})
    })
    .catch(() => {
      // A window that was used later shows the notifications now; this one waits for its turn.
      isTeller = false
      becomeTeller(false)
    })
}

async function tell(fresh: readonly Need[]): Promise<void> {
  const worker = fresh.length > 0 ? await navigator.serviceWorker?.getRegistration() : undefined
  if (!worker) return
  const many: Need = { tag: manyTag, title: `${fresh.length} things need you`, view: '#/inbox' }
  for (const { tag, title, view } of fresh.length > mostAtOnce ? [many] : fresh)
    await worker.showNotification(title, { tag, body: 'termaite', icon: '/icon-192.png', data: { view } })
}

/** Closes the notifications about everything that no longer needs the person. */
async function takeBack(open: ReadonlySet<string>): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration()
  for (const shown of (await worker?.getNotifications()) ?? [])
    if (shown.tag === manyTag ? open.size === 0 : !open.has(shown.tag)) shown.close()
}
