declare const self: ServiceWorkerGlobalScope
/** The files of the page that it needs to open, and a name that changes with each of them; the build writes both. */
declare const SHELL_FILES: readonly string[]
declare const SHELL_VERSION: string

/** Shown while the hub cannot be reached; the page itself says that it is offline. */
const startPage = '/'
const cacheName = `termaite-${SHELL_VERSION}`
/** A file whose name has a hash of its content never changes. */
const hashed = /-[0-9a-f]{12}\.\w+$/

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell())
})

self.addEventListener('activate', (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()))
})

/** Keeps the files of this version. A new version does not wait until all windows of the old one are closed. */
async function keepShell(): Promise<void> {
  const cache = await caches.open(cacheName)
  await cache.addAll([startPage, ...SHELL_FILES].map((path) => new Request(path, { cache: 'no-cache' })))
  await self.skipWaiting()
}

async function forgetOthers(keep: string | undefined = cacheName): Promise<void> {
  const names = await caches.keys()
  await Promise.all(
    names.filter((name) => name.startsWith('termaite-') && name !== keep).map((name) => caches.delete(name)),
  )
}

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  // Nothing of the API is ever answered here: data comes from the hub or not at all.
  if (request.method !== 'GET' || origin !== self.location.origin || /^\/(?:api|mcp)(?:\/|$)/.test(pathname)) return
  if (request.mode === 'navigate') event.respondWith(newestPage(request))
  else if (hashed.test(pathname)) event.respondWith(keptFile(request))
})

/** The page as the hub has it now, so that no old one is ever shown while the hub is there; else the kept one. */
async function newestPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request)
    // Another program, or a termaite without a worker, may serve this address now: then this worker leaves.
    if (response.headers.get('x-termaite-worker') !== 'keep') await leave()
    return response
  } catch (error) {
    const kept = await caches.match(startPage)
    if (!kept) throw error
    return kept
  }
}

async function leave(): Promise<void> {
  await forgetOthers('')
  await self.registration.unregister()
}

async function keptFile(request: Request): Promise<Response> {
  const kept = await caches.match(request)
  if (kept) return kept
  const response = await fetch(request)
  if (response.ok) await (await caches.open(cacheName)).put(request, response.clone())
  return response
}

/** A notification leads to its subject: in a window of the page that is open, else in a new one. */
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const view = (event.notification.data as { view?: string } | null)?.view ?? '#/inbox'
  event.waitUntil(openView(view))
})

async function openView(view: string): Promise<void> {
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const [last] = windows.filter(({ url }) => new URL(url).origin === self.location.origin)
  last?.postMessage({ open: view })
  await (last ? last.focus() : self.clients.openWindow(`/${view}`))
}
