/**
 * The commands of the pages that no test runs, each by a part of its text, with the reason. The flags of a `termaite` command
 * among them are still read by the program's own parser.
 */
export const unrun: readonly (readonly [part: string, why: string])[] = [
  ['npm ci', 'it would build and test this very checkout inside its own test'],
  ['linux-x64', 'it needs a release; test/binary tries the file'],
  ['npm install', 'it needs the registry'],
  ['npx termaite', 'it needs the registry; test/real/package.test.ts runs it from the tarball'],
  ['docker ', 'there is no Docker here; test/deploy tries the files'],
  ['createdb', 'it needs a PostgreSQL of its own; test/postgres.ts tries the ledger'],
  ['--ledger', 'it needs a PostgreSQL of its own; test/cli/hub-ledger.test.ts tries the ledger'],
  ['--host ', 'it listens beyond this machine; test/hub/http tries the address, the proxy and the certificate'],
  ['sqlite3 ', 'not every machine has it; test/store/index.test.ts reads the view with it'],
  ['agent join', 'it joins a hub elsewhere; test/cli/agent-join.test.ts joins one'],
  ['crew attach', 'it hands the terminal over; test/cli/attach.test.ts types in one'],
  ['crew watch', 'it fills the terminal; test/cli/crew-watch.test.ts looks at it'],
]

/** Why no test runs a command of a page. */
export const reasonNotToRun = (command: string) => unrun.find(([part]) => command.includes(part))?.[1]
