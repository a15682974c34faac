import { delimiter, dirname } from 'node:path'

/**
 * The folders of the system's own programs, without those that a person has added, such as the agent CLIs on the machine of a
 * developer. `npm run test:bare` names a folder that lacks what a fresh machine may lack.
 */
const systemPath = process.env.TERMAITE_TEST_PATH ?? ['/usr/bin', '/bin'].join(delimiter)

/** A PATH with these folders first, then the Node of the tests, then the system's own programs. */
export const pathOf = (...folders: readonly string[]): string =>
  [...folders, dirname(process.execPath), systemPath].join(delimiter)
