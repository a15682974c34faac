import type { ProgramTable } from './program-table.ts'

const around = ['A', 'B', 'C'].flatMap((letter) => [`-${letter} <N>`, `-${letter}<N>`])

/** Programs that search files for a pattern. */
export const searchTables: readonly ProgramTable[] = [
  {
    names: ['grep', 'egrep', 'fgrep'],
    letters: 'abcEFGhHiIlLnoPqrsTvwxy',
    rows: [
      ...around,
      ...['-<N>', '-e <TEXT>', '-f <FILE>', '-m <N>', '-m<N>', '--regexp=<TEXT>', '--file=<FILE>', '--max-count=<N>'],
      ...['--after-context=<N>', '--before-context=<N>', '--context=<N>', '--include=<TEXT>', '--exclude=<TEXT>'],
      ...['--exclude-dir=<TEXT>', '--include <TEXT>', '--exclude <TEXT>', '--exclude-dir <TEXT>'],
      ...['--color', '--color=<auto|always|never>', '--colour', '--colour=<auto|always|never>', '--label=<TEXT>'],
      ...['--recursive', '--ignore-case', '--no-ignore-case', '--line-number', '--count', '--files-with-matches'],
      ...['--files-without-match', '--invert-match', '--word-regexp', '--line-regexp', '--only-matching', '--quiet'],
      ...['--silent', '--no-messages', '--no-filename', '--with-filename', '--extended-regexp', '--fixed-strings'],
      ...['--perl-regexp', '--basic-regexp', '--text', '--byte-offset', '--initial-tab', '--null', '-Z'],
    ],
    operands: { first: ['TEXT'], rest: 'FILE', least: 1 },
    instead: ['-e', '-f', '--regexp', '--file'],
    recursive: ['-r', '--recursive'],
  },
  {
    names: ['rg'],
    letters: 'abcFHiIlnNopPqsSuUvwx0',
    rows: [
      ...around,
      ...['-e <TEXT>', '--regexp=<TEXT>', '-f <FILE>', '--file=<FILE>', '-g <TEXT>', '-g<TEXT>', '--glob=<TEXT>'],
      ...['--glob <TEXT>', '--iglob=<TEXT>', '--iglob <TEXT>', '-t <NAME>', '-t<NAME>', '-T <NAME>', '-T<NAME>'],
      ...['--type=<NAME>', '--type <NAME>', '--type-not=<NAME>', '--type-not <NAME>', '-m <N>', '-m<N>'],
      ...['--max-count=<N>', '--max-count <N>', '-r <TEXT>', '--replace=<TEXT>', '--replace <TEXT>', '-M <N>'],
      ...['--max-columns=<N>', '--max-columns <N>', '-d <N>', '--max-depth=<N>', '--max-depth <N>', '-j <N>'],
      ...['--sort=<none|path|modified|accessed|created>', '--sort <none|path|modified|accessed|created>'],
      ...[
        '--sortr=<none|path|modified|accessed|created>',
        '--context=<N>',
        '--after-context=<N>',
        '--before-context=<N>',
      ],
      ...['--context <N>', '--after-context <N>', '--before-context <N>', '--max-filesize=<SIZE>', '--threads=<N>'],
      ...['--color=<auto|always|never|ansi>', '--color <auto|always|never|ansi>', '--colors=<TEXT>', '--files'],
      ...['--type-list', '--hidden', '--no-hidden', '--no-ignore', '--no-ignore-vcs', '--no-config', '--no-heading'],
      ...['--heading', '--line-number', '--no-line-number', '--no-filename', '--with-filename', '--ignore-case'],
      ...['--smart-case', '--case-sensitive', '--fixed-strings', '--word-regexp', '--line-regexp', '--count'],
      ...['--count-matches', '--files-with-matches', '--files-without-match', '--invert-match', '--multiline'],
      ...['--multiline-dotall', '--only-matching', '--pcre2', '--quiet', '--json', '--stats', '--trim', '--vimgrep'],
      ...['--no-messages', '--column', '--null', '--text', '--passthru', '--pretty', '--unrestricted', '-.'],
      ...['--one-file-system', '--no-ignore-parent', '--glob-case-insensitive'],
    ],
    operands: { first: ['TEXT'], rest: 'FILE' },
    instead: ['-e', '-f', '--regexp', '--file', '--files', '--type-list'],
    recursive: 'always',
  },
]
