import { signal } from '@preact/signals'

/** The view that the address names, the thing that it shows, and its filters. */
export type Address = { view: string; id?: string; filters: URLSearchParams }

export const address = signal<Address>(parsed())

function parsed(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = '', id] = path.split('/')
  const filters = new URLSearchParams(query)
  return id === undefined ? { view: view || 'inbox', filters } : { view, id: decodeURIComponent(id), filters }
}

addEventListener('hashchange', () => {
  address.value = parsed()
})

export const taskLink = (id: string) => `#/tasks/${encodeURIComponent(id)}`

/** Puts a filter into the address, so that a reload and a shared link show the same. */
export function setFilter(name: string, value: string): void {
  const filters = new URLSearchParams(address.value.filters)
  if (value === '') filters.delete(name)
  else filters.set(name, value)
  const query = filters.size === 0 ? '' : `?${filters}`
  history.replaceState(null, '', `#/${address.value.view}${query}`)
  address.value = parsed()
}
