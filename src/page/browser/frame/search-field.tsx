import { address, setFilter } from './page-address.ts'

/** The words that a view is searched for; they are in the address. */
export const searchWords = () => address.value.filters.get('q') ?? ''

/** The field for the words that a view is searched for. */
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
