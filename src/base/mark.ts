/**
 * Records that a run has reached this point, for `npm run bench start`: if TERMAITE_MARKS names a file, bin/termaite.cjs writes all
 * moments to it at the end, in milliseconds since the process started.
 */
export const mark = process.env.TERMAITE_MARKS ? noteMoment : (): void => {}

function noteMoment(name: string): void {
  performance.mark(name)
}
