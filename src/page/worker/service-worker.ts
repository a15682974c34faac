declare const self: ServiceWorkerGlobalScope
/** The files that the page needs to start, and a name that changes with each of them; the build writes both. */
declare const SHELL_FILES: readonly string[]
declare const SHELL_VERSION: string

/** Shown while the hub cannot be reached; this page itself says that it is offline. */
const startPage = '/'
const cacheName = `termaite-${SHELL_VERSION}`
/** A file with a hash of its content in its name never changes. */
const hashed = /-[0-9a-f]{12}\.\w+$/

self.addEventListener('install', (event) => {
  event.waitUntil(keepShell())
})

self.addEventListener('activate', (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()))
})

/** Caches the files of this version. A new version does not wait until all windows of the old one are closed. */
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
  // Requests to the API are never answered from the cache: data comes from the hub or not at all.
  if (request.method !== 'GET' || origin !== self.location.origin || /^\/(?:api|mcp)(?:\/|$)/.test(pathname)) return
  if (request.mode === 'navigate') event.respondWith(newestPage(request))
  else if (hashed.test(pathname)) event.respondWith(keptFile(request))
})

/** The page from the hub, so that no old version is shown while the hub can be reached; otherwise the cached one. */
async function newestPage(request: Request): Promise<Response> {
  try {
    const response = await fetch(request)
    // Another program, or a termaite without a worker, may use this address now: then this worker removes itself.
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

/** A click on a notification opens its subject: in an open window of the page, otherwise in a new one. */
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
