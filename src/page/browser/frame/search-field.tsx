import { address, setFilter } from './page-address.ts'

/** The search words of a view, which are in the address. */
export const searchWords = () => address.value.filters.get('q') ?? ''

/** The search field of a view. */
export function SearchField({ label }: { label: string }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder="Search ( / )"
      value={searchWords()}
      onInput={(event) => setFilter('q', event.currentTarget.value)}
    />
  )
}
