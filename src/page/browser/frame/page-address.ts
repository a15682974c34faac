import { signal } from '@preact/signals'

/** The view that the address names, the item that it shows, and its filters. */
type Address = { view: string; id?: string; filters: URLSearchParams }

export const address = signal<Address>(parseHash())

function parseHash(): Address {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = '', id] = path.split('/')
  const filters = new URLSearchParams(query)
  return id === undefined ? { view: view || 'inbox', filters } : { view, id: decodeURIComponent(id), filters }
}

addEventListener('hashchange', () => {
  address.value = parseHash()
})

export const taskLink = (id: string) => `#/tasks/${encodeURIComponent(id)}`
export const agentLink = (id: string) => `#/agents/${encodeURIComponent(id)}`
export const turnLink = (id: string) => `#/turns/${encodeURIComponent(id)}`

/** The address of a conversation, or of one entry in it. */
export const sessionLink = (id: string, entry?: string) =>
  `#/conversations/${encodeURIComponent(id)}${entry === undefined ? '' : `?at=${encodeURIComponent(entry)}`}`

/** Puts a filter into the address, so that a reload and a shared link show the same. */
export const setFilter = (name: string, value: string) => setFilters({ [name]: value })

/** Puts several filters into the address; an empty one is removed. */
export function setFilters(changes: Readonly<Record<string, string>>): void {
  const filters = new URLSearchParams(address.value.filters)
  for (const [name, value] of Object.entries(changes))
    if (value === '') filters.delete(name)
    else filters.set(name, value)
  const query = filters.size === 0 ? '' : `?${filters}`
  const { view, id } = address.value
  history.replaceState(null, '', `#/${view}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${query}`)
  address.value = parseHash()
}
