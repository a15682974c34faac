/** So many rows that scrolled off one terminal can be looked at again, and so many of all together: each is held in memory, cell by cell. */
const mostRows = 10_000
const rowsInAll = 50_000
const leastRows = 1_000

/** How many each of so many terminals may have. */
export function rowsEach(terminals: number): number {
  return Math.max(leastRows, Math.min(mostRows, Math.floor(rowsInAll / terminals)))
}
