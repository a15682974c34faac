import type { ProgramTable } from './program-table.ts'

/** Programs that say something about the system or print their arguments. */
export const systemTables: readonly ProgramTable[] = [
  { names: ['echo', 'true', 'false', ':'], free: true, operands: { rest: 'TEXT' } },
  { names: ['printf'], ends: true, operands: { first: ['PRINTF'], rest: 'TEXT', least: 1 } },
  {
    names: ['date'],
    letters: 'uR',
    rows: [
      ...['-I', '-I<date|hours|minutes|seconds|ns>', '--iso-8601', '--iso-8601=<date|hours|minutes|seconds|ns>'],
      ...['--utc', '--rfc-email', '--rfc-3339=<date|seconds|ns>', '--date=<TEXT>'],
    ],
    // A date as operand would set the clock.
    operands: { first: ['FORMAT'] },
  },
  { names: ['whoami', 'logname', 'arch', 'tty', 'users', 'clear'] },
  {
    names: ['id'],
    letters: 'ugGnrz',
    rows: ['--user', '--group', '--groups', '--name', '--real'],
    operands: { first: ['NAME'] },
  },
  { names: ['groups'], operands: { first: ['NAME'] } },
  {
    names: ['uname'],
    letters: 'asnrvmpio',
    rows: ['--all', '--kernel-name', '--kernel-release', '--machine', '--operating-system'],
  },
  { names: ['hostname'], letters: 's', apart: true },
  { names: ['uptime'], letters: 'ps', rows: ['--pretty', '--since'] },
  { names: ['nproc'], rows: ['--all', '--ignore=<N>'] },
  { names: ['free'], letters: 'bkmght', rows: ['--human', '--total', '--mega', '--giga', '--si'] },
  { names: ['lscpu'] },
  { names: ['which'], letters: 'a', operands: { rest: 'NAME', least: 1 } },
  { names: ['type'], letters: 'aptP', operands: { rest: 'NAME', least: 1 } },
  // `command` without -v runs its operands.
  { names: ['command -v', 'command -V'], operands: { rest: 'NAME', least: 1 } },
  {
    names: ['ps'],
    letters: 'efAlwj',
    rows: ['-o <FIELDS>', '-p <RANGE>', '--forest', '--no-headers', '--sort=<FIELDS>', '--pid=<RANGE>'],
    // Without a dash, e would show the environment of every process.
    operands: { first: ['aux|ax|axu|auxw|auxww|axw|axww|axuw|axuww|auxf|axf'] },
  },
  { names: ['printenv'], operands: { rest: 'SHOWN', least: 1 } },
  {
    names: ['t', 'tv', 'tz', 'tvz', 'tzv', 'tj', 'tJ', 'tvj', 'tvJ'].flatMap((way) => [`tar ${way}f`, `tar -${way}f`]),
    operands: { first: ['ARCHIVE'], least: 1 },
  },
  { names: ['unzip -l'], operands: { first: ['FILE'], least: 1 } },
  // `set -x` would expand a variable that decides what is printed.
  { names: ['set -e', 'set -u', 'set -eu', 'set -ue'] },
  { names: ['set -o', 'set -eo', 'set -euo'], operands: { first: ['pipefail|errexit|nounset'], least: 1 } },
  {
    names: ['seq'],
    letters: 'w',
    rows: ['-s <TEXT>', '-f <PRINTF>', '--equal-width'],
    operands: { rest: '±N', least: 1 },
  },
  { names: ['sleep'], operands: { first: ['SECONDS'], least: 1 } },
  // Other programs look for settings in the project that name a program, even to show their version.
  {
    names: [
      'node',
      'nodejs',
      'python',
      'python3',
      'python2',
      'gcc',
      'g++',
      'cc',
      'clang',
      'make',
      'bash',
      'docker',
      'tmux',
      'curl',
      'wget',
      'jq',
      'rg',
      'tar',
      'perl',
      'zsh',
    ].map((name) => `${name} --version`),
  },
  { names: ['node -v', 'python3 -V', 'python -V', 'java -version', 'ssh -V', 'tmux -V'] },
]
