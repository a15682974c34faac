import type { ProgramTable } from './program-table.ts'

const file = { rest: 'FILE' }

/** Programs that print text from files or from their input. */
export const textTables: readonly ProgramTable[] = [
  {
    names: ['cat'],
    letters: 'AbeEnstTuv',
    rows: ['--number', '--number-nonblank', '--show-all', '--show-ends', '--show-tabs', '--squeeze-blank'],
    operands: file,
  },
  { names: ['tac'], letters: 'br', rows: ['-s <TEXT>'], operands: file },
  { names: ['rev'], operands: file },
  {
    names: ['head'],
    letters: 'qvz',
    rows: [
      ...['-<N>', '-n <±N>', '-n<±N>', '-c <SIZE>', '-c<SIZE>', '--lines=<±N>', '--lines <±N>', '--bytes=<SIZE>'],
      ...['--quiet', '--silent', '--verbose', '--zero-terminated'],
    ],
    operands: file,
  },
  {
    names: ['tail'],
    letters: 'qvz',
    rows: [
      ...['-<N>', '-n <±N>', '-n<±N>', '-c <SIZE>', '-c<SIZE>', '--lines=<±N>', '--lines <±N>', '--bytes=<SIZE>'],
      ...['--quiet', '--silent', '--verbose', '--zero-terminated'],
    ],
    operands: file,
  },
  {
    names: ['wc'],
    letters: 'clmwL',
    rows: ['--lines', '--words', '--bytes', '--chars', '--max-line-length'],
    operands: file,
  },
  {
    names: ['nl'],
    letters: 'p',
    rows: [
      ...['-b <a|t|n>', '-b<a|t|n>', '-n <ln|rn|rz>', '-n<ln|rn|rz>', '-w <N>', '-w<N>', '-s <TEXT>', '-s<TEXT>'],
      ...['-v <N>', '-i <N>', '--body-numbering=<a|t|n>', '--number-width=<N>', '--number-separator=<TEXT>'],
    ],
    operands: file,
  },
  {
    names: ['sort'],
    letters: 'bcCdfghiMmnRrsuVz',
    rows: [
      ...['-k <KEY>', '-k<KEY>', '--key=<KEY>', '-t <TEXT>', '-t<TEXT>', '--field-separator=<TEXT>'],
      ...['--reverse', '--numeric-sort', '--unique', '--human-numeric-sort', '--version-sort', '--ignore-case'],
      ...['--general-numeric-sort', '--month-sort', '--stable', '--check', '--dictionary-order', '--random-sort'],
      ...['--ignore-leading-blanks', '--ignore-nonprinting', '--zero-terminated'],
    ],
    operands: file,
  },
  {
    names: ['uniq'],
    flagsFirst: true,
    letters: 'cdDiuz',
    rows: [
      ...['-f <N>', '-f<N>', '-s <N>', '-s<N>', '-w <N>', '-w<N>', '--skip-fields=<N>', '--skip-chars=<N>'],
      ...['--count', '--repeated', '--unique', '--ignore-case', '--check-chars=<N>'],
    ],
    // The second operand is a file that uniq writes.
    operands: { first: ['FILE'] },
  },
  {
    names: ['cut'],
    letters: 's',
    rows: [
      ...['-f <RANGE>', '-f<RANGE>', '-c <RANGE>', '-c<RANGE>', '-b <RANGE>', '-b<RANGE>', '-d <TEXT>', '-d<TEXT>'],
      ...['--fields=<RANGE>', '--characters=<RANGE>', '--bytes=<RANGE>', '--delimiter=<TEXT>', '--complement'],
      ...['--output-delimiter=<TEXT>', '--only-delimited'],
    ],
    operands: file,
  },
  {
    names: ['tr'],
    letters: 'cCdst',
    rows: ['--delete', '--complement', '--squeeze-repeats'],
    operands: { first: ['TEXT', 'TEXT'], least: 1 },
  },
  {
    names: ['paste'],
    letters: 's',
    rows: ['-d <TEXT>', '-d<TEXT>', '--serial', '--delimiters=<TEXT>'],
    operands: file,
  },
  { names: ['fold'], letters: 's', rows: ['-w <N>', '-w<N>', '--width=<N>', '--spaces'], operands: file },
  { names: ['fmt'], letters: 'su', rows: ['-w <N>', '-w<N>', '--width=<N>'], operands: file },
  { names: ['expand', 'unexpand'], letters: 'i', rows: ['-t <RANGE>', '-t<RANGE>', '--tabs=<RANGE>'], operands: file },
  {
    names: ['column'],
    letters: 't',
    rows: ['-s <TEXT>', '-s<TEXT>', '-c <N>', '-o <TEXT>', '--table'],
    operands: file,
  },
  {
    names: ['comm'],
    letters: '123z',
    rows: ['--nocheck-order', '--check-order', '--output-delimiter=<TEXT>', '--total'],
    operands: { first: ['FILE', 'FILE'], least: 2 },
  },
  {
    names: ['cmp'],
    letters: 'bls',
    rows: ['-n <SIZE>', '--bytes=<SIZE>', '--quiet', '--silent', '--verbose', '--print-bytes'],
    operands: { first: ['FILE', 'FILE'], least: 2 },
  },
  {
    names: ['diff'],
    letters: 'abBcdeEHinNpqstTuwyZ',
    rows: [
      ...['-U <N>', '-U<N>', '-C <N>', '-C<N>', '-W <N>', '-I <TEXT>', '-L <TEXT>', '--label=<TEXT>', '--label <TEXT>'],
      ...['--color', '--color=<auto|always|never>', '--unified', '--unified=<N>', '--context', '--context=<N>'],
      ...['--brief', '--side-by-side', '--ignore-case', '--ignore-all-space', '--ignore-space-change'],
      ...['--ignore-blank-lines', '--suppress-common-lines', '--strip-trailing-cr', '--text', '--minimal'],
      ...['--report-identical-files', '--width=<N>', '--new-file', '--normal', '--left-column'],
    ],
    plainFiles: true,
    operands: { first: ['FILE', 'FILE'], least: 2 },
  },
  {
    names: ['od'],
    letters: 'abcdfiloxsv',
    rows: ['-A <d|o|x|n>', '-A<d|o|x|n>', '-t <NAME>', '-t<NAME>', '-N <N>', '-N<N>', '-j <N>', '-j<N>', '-w<N>'],
    operands: file,
  },
  { names: ['hexdump', 'hd'], letters: 'Cv', rows: ['-n <N>', '-s <N>'], operands: file },
  {
    names: ['xxd'],
    flagsFirst: true,
    letters: 'pbui',
    apart: true,
    rows: ['-l <N>', '-s <±N>', '-c <N>', '-g <N>'],
    // The second operand is a file that xxd writes.
    operands: { first: ['FILE'] },
  },
  {
    names: ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum', 'cksum', 'sum'],
    letters: 'btz',
    rows: ['--tag', '--binary', '--text'],
    operands: file,
  },
  {
    names: ['base64', 'base32'],
    letters: 'd',
    rows: ['-w <N>', '-w<N>', '--decode', '--wrap=<N>'],
    operands: { first: ['FILE'] },
  },
]
