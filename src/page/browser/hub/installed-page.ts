import { signal } from '@preact/signals'

/** Whether the hub has a version of this page other than the open one. */
export const isOutdated = signal(false)

/** Compares the hub's version with that of this page. A page in which nobody is typing is reloaded at once. */
export function checkVersion(version: string | null): void {
  const own = document.querySelector<HTMLMetaElement>('meta[name=termaite-version]')?.content ?? ''
  if (!version || version === own || own === '') return
  isOutdated.value = true
  // If the same version comes twice, something on the way serves an old page, and reloading again would not help.
  const tried = 'termaite-reloaded'
  if (isWriting() || sessionStorage.getItem(tried) === version) return
  sessionStorage.setItem(tried, version)
  location.reload()
}

function isWriting(): boolean {
  const fields = [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input:not([type]), textarea')]
  return fields.some(({ value }) => value !== '')
}

type WorkerPolicy = { createScriptURL(url: string): string }
type TrustedTypes = { createPolicy(name: string, rules: WorkerPolicy): WorkerPolicy }

/**
 * Lets the page be installed and opened without the hub. Browsers only allow that over https or on this machine; elsewhere the page works
 * without it.
 */
export async function installWorker(): Promise<void> {
  if (!('serviceWorker' in navigator)) return
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  const own = { createScriptURL: () => '/service-worker.js' }
  const policy = trustedTypes?.createPolicy('termaite-worker', own) ?? own
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<{ open?: string } | null>) => {
    if (typeof data?.open === 'string' && data.open.startsWith('#/')) location.hash = data.open
  })
  // A browser that refuses, for example in a private window, still shows the page.
  await navigator.serviceWorker
    .register(policy.createScriptURL(''), { scope: '/', updateViaCache: 'none' })
    .catch(() => undefined)
}
