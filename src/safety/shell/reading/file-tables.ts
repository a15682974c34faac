import type { ProgramTable } from './program-table.ts'

const file = { rest: 'FILE' }

/** Programs that show names, sizes and dates of files. */
export const fileTables: readonly ProgramTable[] = [
  {
    names: ['ls', 'dir'],
    letters: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
    rows: [
      ...['--all', '--almost-all', '--human-readable', '--reverse', '--recursive', '--size', '--inode', '--directory'],
      ...['--color', '--color=<auto|always|never>', '--group-directories-first', '--full-time', '--file-type', '--si'],
      ...['--classify', '--classify=<auto|always|never>', '--numeric-uid-gid', '--no-group', '--escape', '--literal'],
      ...['--sort=<none|size|time|version|extension|width>', '--time=<atime|access|use|ctime|status|birth|creation>'],
      ...['--time-style=<full-iso|long-iso|iso|locale>', '--hide=<TEXT>', '--ignore=<TEXT>', '--zero', '--author'],
      ...['--format=<across|commas|horizontal|long|single-column|verbose|vertical>', '--block-size=<SIZE>'],
    ],
    operands: file,
    namesOnly: true,
  },
  {
    names: ['stat'],
    letters: 'ftx',
    rows: ['-c <TEXT>', '-c<TEXT>', '--format=<TEXT>', '--printf=<TEXT>', '--terse', '--file-system'],
    operands: file,
    namesOnly: true,
  },
  {
    names: ['du'],
    letters: 'abchkmsSx0',
    rows: [
      ...['-d <N>', '-d<N>', '--max-depth=<N>', '--max-depth <N>', '--exclude=<TEXT>', '--threshold=<SIZE>'],
      ...['--all', '--human-readable', '--summarize', '--total', '--apparent-size', '--bytes', '--one-file-system'],
    ],
    operands: file,
    namesOnly: true,
  },
  {
    names: ['df'],
    letters: 'ahHiklmPT',
    rows: ['--human-readable', '--all', '--inodes', '--local', '--portability', '--print-type', '--total', '--si'],
    operands: file,
    namesOnly: true,
  },
  {
    names: ['file'],
    letters: 'biIkN',
    rows: ['--mime', '--mime-type', '--mime-encoding', '--brief', '--keep-going', '--no-pad', '-F <TEXT>'],
    operands: { rest: 'FILE', least: 1 },
  },
  {
    names: ['tree'],
    letters: 'aAcCdDfFghinNpqrsStuUv',
    rows: [
      ...['-L <N>', '-I <TEXT>', '-P <TEXT>', '--filelimit <N>', '--dirsfirst', '--filesfirst', '--noreport', '--du'],
      ...['--prune', '--gitignore', '--charset=<NAME>', '--matchdirs', '--ignore-case', '--si', '--inodes'],
    ],
    operands: file,
    namesOnly: true,
  },
  {
    names: ['readlink'],
    letters: 'efmnqsvz',
    rows: ['--canonicalize', '--canonicalize-existing', '--canonicalize-missing', '--no-newline'],
    operands: { rest: 'FILE', least: 1 },
    namesOnly: true,
  },
  {
    names: ['realpath'],
    letters: 'emqszLP',
    rows: ['--relative-to=<FILE>', '--relative-base=<FILE>', '--canonicalize-missing', '--no-symlinks'],
    operands: { rest: 'FILE', least: 1 },
    namesOnly: true,
  },
  {
    names: ['basename'],
    letters: 'az',
    rows: ['-s <TEXT>', '--suffix=<TEXT>', '--multiple'],
    operands: { rest: 'TEXT', least: 1 },
  },
  { names: ['dirname'], letters: 'z', operands: { rest: 'TEXT', least: 1 } },
  { names: ['pwd'], letters: 'LP', apart: true },
]
