import type { Word } from '../simple-command.ts'
import type { ProgramTable, ReadingProgram, Surroundings } from './program-table.ts'
import { only } from '../simple-command.ts'
import { here, not, program } from './program-table.ts'

/** Operands that are revisions or paths; every one is looked at as a path, too. */
const mixed = { rest: 'FILE' }

/** The options that choose commits and say how they are shown. */
const history = [
  ...['-<N>', '-n <N>', '-n<N>', '--max-count=<N>', '--skip=<N>', '--since=<TEXT>', '--after=<TEXT>', '--until=<TEXT>'],
  ...['--before=<TEXT>', '--author=<TEXT>', '--committer=<TEXT>', '--grep=<TEXT>', '-i', '-E', '-F', '--all-match'],
  ...['--invert-grep', '--oneline', '--graph', '--no-graph', '--all', '--branches', '--tags', '--remotes', '--not'],
  ...['--decorate', '--decorate=<short|full|no|auto>', '--no-decorate', '--reverse', '--merges', '--no-merges'],
  ...['--first-parent', '--follow', '--format=<PRETTY>', '--pretty', '--pretty=<PRETTY>', '--abbrev-commit'],
  ...[
    '--no-abbrev-commit',
    '--left-right',
    '--cherry-pick',
    '--cherry',
    '--cherry-mark',
    '--topo-order',
    '--date-order',
  ],
  ...[
    '--author-date-order',
    '--ancestry-path',
    '--simplify-by-decoration',
    '--full-history',
    '--boundary',
    '-L <LINES>',
  ],
  ...[
    '-L<LINES>',
    '--date=<relative|local|iso|iso8601|iso-strict|rfc|rfc2822|short|raw|human|unix|default>',
    '--count',
  ],
  ...['--parents', '--children', '--show-pulls', '--no-notes', '-g', '--walk-reflogs', '--source', '--no-walk'],
]

/** The options that say how differences are shown. None of these writes a file or starts a program. */
const differences = [
  ...['-p', '-u', '--patch', '-s', '--no-patch', '-U<N>', '--unified=<N>', '--stat', '--stat=<RANGE>', '--shortstat'],
  ...['--numstat', '--dirstat', '--summary', '--compact-summary', '--name-only', '--name-status', '--raw', '--check'],
  ...['--color', '--color=<auto|always|never>', '--no-color', '--color-words', '--color-moved', '--no-color-moved'],
  ...['--word-diff', '--word-diff=<plain|color|porcelain|none>', '--word-diff-regex=<TEXT>', '--no-ext-diff'],
  ...['--no-textconv', '-w', '-b', '--ignore-all-space', '--ignore-space-change', '--ignore-space-at-eol'],
  ...['--ignore-blank-lines', '--ignore-cr-at-eol', '--minimal', '--patience', '--histogram'],
  ...['--diff-algorithm=<default|myers|minimal|patience|histogram>', '-M', '-C', '-M<N>', '--find-renames'],
  ...['--find-copies', '--no-renames', '--full-index', '--binary', '--abbrev', '--abbrev=<N>', '-S <TEXT>', '-S<TEXT>'],
  ...['-G <TEXT>', '-G<TEXT>', '--pickaxe-all', '--pickaxe-regex', '--diff-filter=<NAME>', '-z', '-R', '-a', '--text'],
  ...['-W', '--function-context', '--inter-hunk-context=<N>', '--no-prefix', '--relative', '--no-relative'],
  ...['--exit-code', '--quiet', '-m', '-c', '--cc', '--root', '-t', '--no-indent-heuristic', '--merge-base'],
]

const letters = (all: string) => [...all].map((one) => `-${one}`)

type Sub = Omit<ProgramTable, 'names'> & {
  /** Operands only with one of these flags. */ operandsWith?: readonly string[]
}

/** The commands of git that only read, by name. */
export const gitTables: Readonly<Record<string, Sub>> = {
  status: {
    letters: 'sbz',
    rows: [
      ...['--short', '--branch', '--porcelain', '--porcelain=<v1|v2|1|2>', '--long', '--show-stash', '--ahead-behind'],
      ...['--no-ahead-behind', '-u', '-uno', '-unormal', '-uall', '--untracked-files', '--ignored'],
      ...['--untracked-files=<no|normal|all>', '--renames', '--no-renames', '--null'],
    ],
    operands: mixed,
  },
  log: { rows: [...history, ...differences], operands: mixed },
  show: { rows: [...history, ...differences], operands: mixed },
  diff: { rows: [...differences, '--cached', '--staged'], operands: mixed },
  whatchanged: { rows: [...history, ...differences], operands: mixed },
  'rev-list': { rows: history, operands: mixed },
  shortlog: {
    letters: 'sne',
    rows: [...history.filter((row) => !/^-[niEF]/.test(row)), '--summary', '--numbered', '--email'],
    operands: mixed,
  },
  reflog: { rows: history, operands: { first: ['show|HEAD'], rest: 'FILE' } },
  blame: {
    rows: [
      ...letters('wMCeslpftn'),
      ...['-L <TEXT>', '-L<TEXT>', '--porcelain', '--line-porcelain', '--root', '--show-name', '--show-number'],
      ...['--show-email', '--abbrev=<N>', '--since=<TEXT>', '--date=<relative|iso|short|raw|human|local|default>'],
    ],
    operands: mixed,
  },
  'ls-files': {
    letters: 'cdmoisutvzk',
    rows: [
      ...['--cached', '--deleted', '--modified', '--others', '--ignored', '--stage', '--unmerged', '--killed', '--eol'],
      ...['--exclude-standard', '--full-name', '--error-unmatch', '--directory', '--deduplicate', '-x <TEXT>'],
      ...['--exclude=<TEXT>', '--no-empty-directory'],
    ],
    operands: mixed,
  },
  'ls-tree': {
    letters: 'rtdlz',
    rows: ['--name-only', '--name-status', '--full-name', '--full-tree', '--long', '--abbrev', '--object-only'],
    operands: mixed,
  },
  grep: {
    letters: 'achHiIlLnopPqrvwWEFGz',
    rows: [
      ...['A', 'B', 'C'].flatMap((letter) => [`-${letter} <N>`, `-${letter}<N>`]),
      ...[
        '-e <TEXT>',
        '-m <N>',
        '--max-count=<N>',
        '--cached',
        '--ignore-case',
        '--line-number',
        '--count',
        '--heading',
      ],
      ...['--break', '--name-only', '--files-with-matches', '--files-without-match', '--invert-match', '--word-regexp'],
      ...[
        '--extended-regexp',
        '--perl-regexp',
        '--fixed-strings',
        '--basic-regexp',
        '--only-matching',
        '--show-function',
      ],
      ...['--function-context', '--full-name', '--quiet', '--text', '--column', '--null', '--color', '--no-color'],
      ...['--color=<auto|always|never>', '--max-depth=<N>', '--and', '--or', '--not', '--all-match'],
    ],
    operands: { first: ['TEXT'], rest: 'FILE' },
    instead: ['-e'],
  },
  'rev-parse': {
    rows: [
      ...['--show-toplevel', '--abbrev-ref', '--short', '--short=<N>', '--verify', '--git-dir', '--git-common-dir'],
      ...['--is-inside-work-tree', '--is-inside-git-dir', '--is-bare-repository', '--show-prefix', '--show-cdup'],
      ...['--absolute-git-dir', '--symbolic-full-name', '--symbolic', '-q', '--quiet', '--all', '--branches', '--tags'],
      ...['--remotes', '--is-shallow-repository', '--revs-only', '--no-revs'],
    ],
    operands: mixed,
  },
  describe: {
    rows: [
      ...['--tags', '--always', '--long', '--all', '--contains', '--exact-match', '--first-parent'],
      ...['--abbrev=<N>', '--match=<TEXT>', '--match <TEXT>', '--exclude=<TEXT>', '--candidates=<N>'],
    ],
    operands: mixed,
  },
  branch: {
    letters: 'arvi',
    rows: [
      ...[
        '--all',
        '--remotes',
        '--verbose',
        '--list',
        '-l',
        '--show-current',
        '--merged',
        '--no-merged',
        '--ignore-case',
      ],
      ...['--contains <REVISION>', '--no-contains <REVISION>', '--merged <REVISION>', '--no-merged <REVISION>'],
      ...['--points-at <REVISION>', '--sort=<PRETTY>', '--format=<PRETTY>', '--color', '--no-color', '--no-column'],
      ...['--color=<auto|always|never>', '--abbrev=<N>', '--no-abbrev'],
    ],
    operands: { rest: 'TEXT' },
    // With any other flag, an operand is the name of a new branch.
    operandsWith: ['--list', '-l'],
  },
  tag: {
    rows: [
      ...['-l', '--list', '-n', '-n<N>', '--sort=<PRETTY>', '--format=<PRETTY>', '--ignore-case', '-i', '--no-column'],
      ...['--contains <REVISION>', '--no-contains <REVISION>', '--merged <REVISION>', '--points-at <REVISION>'],
    ],
    operands: { rest: 'TEXT' },
    operandsWith: ['--list', '-l'],
  },
  remote: { rows: ['-v', '--verbose'] },
  'remote get-url': { rows: ['--all', '--push'], operands: { first: ['NAME'], least: 1 } },
  'stash list': { rows: [...history, ...differences] },
  'stash show': { rows: differences, operands: { first: ['REVISION'] } },
  'worktree list': { rows: ['--porcelain', '-v', '--verbose', '-z'] },
  config: {
    rows: ['--get <SETTING>', '--get-all <SETTING>', '--local', '--global', '--show-origin', '--show-scope', '--bool'],
    // One operand shows a setting; with a second one it would be set.
    operands: { first: ['SETTING'] },
  },
  'config get': { rows: ['--local', '--global', '--all', '--show-origin'], operands: { first: ['SETTING'], least: 1 } },
  'for-each-ref': {
    rows: ['--format=<PRETTY>', '--sort=<PRETTY>', '--count=<N>', '--merged=<REVISION>', '--contains=<REVISION>'],
    operands: { rest: 'TEXT' },
  },
  'show-ref': {
    rows: ['--heads', '--tags', '--branches', '--head', '-d', '--dereference', '-s', '--hash', '-q', '--verify'],
    operands: { rest: 'TEXT' },
  },
  'merge-base': {
    rows: ['--is-ancestor', '--all', '-a', '--octopus', '--independent', '--fork-point'],
    operands: { rest: 'REVISION' },
  },
  'name-rev': {
    rows: ['--name-only', '--tags', '--always', '--no-undefined'],
    operands: { rest: 'REVISION', least: 1 },
  },
  'cat-file': { rows: letters('tpse'), operands: { rest: 'FILE', least: 1 } },
  'symbolic-ref': { rows: ['--short', '-q', '--quiet', '--no-recurse'], operands: { first: ['REVISION'], least: 1 } },
  'check-ignore': {
    letters: 'vqn',
    rows: ['--verbose', '--quiet', '--non-matching', '--no-index'],
    operands: { rest: 'FILE', least: 1 },
  },
  'check-attr': { rows: ['-a', '--all', '--cached'], operands: { first: ['NAME'], rest: 'FILE' } },
  'diff-tree': {
    rows: [...differences, '-r', '--no-commit-id', '--stdin'].filter((row) => row !== '--stdin'),
    operands: mixed,
  },
  'count-objects': { letters: 'vH', rows: ['--verbose', '--human-readable'] },
  cherry: { rows: ['-v', '--abbrev', '--abbrev=<N>'], operands: { rest: 'REVISION' } },
  version: { rows: ['--build-options'] },
}

/** Settings on the command line that change only how text looks. */
const looks =
  /^(?:color\.[a-z]+=(?:auto|always|never|false|true)|core\.quote[Pp]ath=(?:on|off|true|false)|core\.pager=cat|log\.date=[a-z-]+|diff\.renames=(?:true|false|copies)|diff\.(?:noprefix|mnemonic[Pp]refix)=(?:true|false)|advice\.[A-Za-z]+=(?:true|false))$/

const programs = new Map<string, ReadingProgram>()

/**
 * git, as far as it only reads. Its verdict relies on the environment in which git runs, which must switch off the
 * repository's own programs, and on settings of the repository that name no program: both are checked by the judge.
 */
export const git: ReadingProgram = (args, around) => {
  let folder: Word = here
  let i = 0
  for (; i < args.length; i++) {
    const text = only(args[i])
    if (text === '--no-pager' || text === '-P' || text === '--no-optional-locks') continue
    if (text === '-C' && args[i + 1] && folder === here) {
      folder = args[++i]!
      if (only(folder) === undefined) return not(`the value of ${folder.text} is known only when it runs`)
    } else if (text === '-c' && looks.test(only(args[i + 1]) ?? '')) i++
    else break
  }
  const first = only(args[i])
  if (first === undefined) return not('termaite does not know which git command runs')
  if (first === '--version' && args.length === 1) return { files: [], trees: [] }
  const pair = `${first} ${only(args[i + 1]) ?? ''}`
  const name = Object.hasOwn(gitTables, pair) ? pair : first
  if (!Object.hasOwn(gitTables, name)) return not(`git ${first} is not a command that termaite knows to only read`)
  const table = gitTables[name]!
  const known =
    programs.get(name) ?? program({ ...table, names: [], ...(table.letters === undefined ? { apart: true } : {}) })
  programs.set(name, known)
  const rest = args.slice(i + (name === pair ? 2 : 1))
  const read = known(rest, around)
  if ('not' in read) return read
  if (table.operandsWith && !rest.some((word) => table.operandsWith!.includes(only(word) ?? ''))) {
    // Without operands every form of these commands lists.
    const plain = program({
      ...table,
      operands: {},
      names: [],
      ...(table.letters === undefined ? { apart: true } : {}),
    })(rest, around)
    if ('not' in plain) return plain
  }
  const files = folder === here ? read.files : read.files.map((word) => below(folder, word))
  const trees = name === 'diff' ? comparedFolders(files, around) : []
  // Settings of the person can let `git grep` search all files where there is no repository.
  const repository = name === 'grep' ? { needsRepository: true as const } : {}
  return { ...read, trees, files: [...files, ...files.flatMap(inRevision), folder], git: folder, ...repository }
}

/** Where git finds no repository that it may use, `git diff` compares two folders file by file. */
function comparedFolders(files: readonly Word[], around: Surroundings): Word[] {
  const there = files.filter(({ values = [] }) => values.some((value) => around.isThere(value)))
  return there.length < 2 ? [] : there.filter(({ values = [] }) => values.some((value) => around.mayBeFolder(value)))
}

function below(folder: Word, word: Word): Word {
  const start = only(folder)!
  return { ...word, values: word.values?.map((value) => (value.startsWith('/') ? value : `${start}/${value}`)) }
}

/** `HEAD:.env` and `:(top).env` name a file in a commit or in the index. */
function inRevision(word: Word): Word[] {
  const paths = (word.values ?? []).flatMap((value) => (/[:)]./.test(value) ? [value.split(/[:)]/).at(-1)!] : []))
  return paths.length === 0 ? [] : [{ text: word.text, values: paths }]
}
