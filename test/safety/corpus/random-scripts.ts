import { tables } from '../../../src/safety/shell/reading/reading-programs.ts'
import { editingTables } from '../../../src/safety/shell/reading/editing-tables.ts'
import { gitTables } from '../../../src/safety/shell/reading/git-tables.ts'
import { rowOf } from '../../../src/safety/shell/reading/program-table.ts'

/** Random numbers that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Operands: files of the hostile project, texts that are code, and everything that may become something else. */
const operands = [
  ...[
    'README.md',
    'src/a.ts',
    'src',
    '.',
    'src/*.ts',
    '*.txt',
    'two/*',
    'two/one.txt',
    'data.json',
    'list.txt',
    'out.txt',
  ],
  ...[
    '.env',
    'innocent.txt',
    'link',
    'link/secret.txt',
    'deep/../secret.txt',
    'outlinks/x.txt',
    'outlinks/*',
    '../away/secret.txt',
  ],
  ...[
    'index.txt',
    'at.txt',
    'sed.sed',
    'awk.awk',
    './evil',
    'evil',
    'a.tar',
    'list0',
    '/dev/null',
    '/dev/stdin',
    '-',
    '--',
    '~',
    '~/.ssh/id_rsa',
  ],
  ...[
    '"$x"',
    '$x',
    '${x}',
    '"${x}"',
    '$HOME',
    '"$PWD"',
    '$?',
    '"$MADE_UP_API_KEY"',
    '${x@P}',
    '${!x}',
    '$((x))',
    '$[x]',
    '${x:-y}',
  ],
  ...[
    '"$(cat index.txt)"',
    '$(ls)',
    '"$(./evil)"',
    '`./evil`',
    '<(./evil)',
    "'a[$(./evil)]'",
    '"a[$(./evil)]"',
    "'1p'",
    "'1,5p'",
    "'$p'",
  ],
  ...[
    "'s/e/b/'",
    "'s/e/b/w out.txt'",
    "'1e ./evil'",
    "'w out.txt'",
    "'{print $1}'",
    '\'{print > "out.txt"}\'',
    '\'BEGIN{system("./evil")}\'',
    "'NR>1'",
    "'/he/'",
  ],
  ...[
    "'.'",
    "'.a'",
    "'env'",
    "'$ENV'",
    "'.env'",
    'hello',
    "'hello'",
    'he*',
    '[a-z]*',
    '?',
    '{a,b}',
    'src/{a,b}.ts',
    '{1..3}',
    'x=1',
    'HEAD',
    'HEAD~1',
    'HEAD:.env',
    'main..old',
    '+%s',
    '3',
    '-3',
    '%s',
    '%n',
    "'%d\\n'",
    ']',
    '!',
    '-exec',
    '-delete',
    ';',
    '\\;',
    '+',
    '{}',
  ],
]

const strange = [
  ...[
    '-i',
    '-o',
    '-oout.txt',
    '--output=out.txt',
    '-f',
    '-e',
    '-w',
    '-c',
    '-C',
    '-S',
    '-O',
    '-x',
    '-X',
    '-u',
    '-d',
    '-v',
    '-r',
    '-R',
    '-L',
  ],
  ...[
    '--in-place',
    '--in-pl',
    '--compress-program=./evil',
    '--files0-from=list0',
    '-fprint',
    '-execdir',
    '--ext-diff',
    '--no-index',
    '--textconv',
    '--contents=.env',
    '--file=.env',
    '-fawk.awk',
    '-I',
    '-Iout',
    '--pre=./evil',
    '--checkpoint-action=exec=./evil',
    '--to-command=./evil',
    '--filter=./evil',
    '-s',
    '-a',
    '-n',
    '-p',
    '-E',
    '-z',
    '-ni',
    '-uo',
  ],
]

const names = [
  ...tables
    .filter((table) => !editingTables.includes(table) && !table.names.includes('sleep'))
    .flatMap((table) => table.names.map((name) => ({ name, table }))),
  ...Object.entries(gitTables).map(([name, table]) => ({ name: `git ${name}`, table })),
  ...[
    'sed',
    'awk',
    'jq',
    'find',
    'test',
    '[',
    'cd',
    'timeout 1',
    'nice',
    'time',
    'bash -c',
    'sh -c',
    'env',
    'xargs',
    'command',
    'eval',
    'exec',
    'printf',
    'declare',
    'let',
    'read',
    'export',
    'set',
    'unset',
    'source',
    '.',
    'trap',
    'find src -type f -exec',
    'sed -n',
    'xargs -a',
  ].map((name) => ({ name, table: undefined })),
]

const before = [
  ...[
    '',
    '',
    '',
    '',
    '',
    '',
    'x=src ',
    'x=$(cat index.txt) ',
    'LC_ALL=C ',
    'PATH=. ',
    'GIT_EXTERNAL_DIFF=./evil ',
    'TAR_OPTIONS=-I./evil ',
    'BASH_ENV=./evil ',
    '! ',
    '\\',
    '2>/dev/null ',
    '< README.md ',
    '< .env ',
    '> out.txt ',
    '>&2 ',
  ],
]
const behind = [
  ...[
    '',
    '',
    '',
    '',
    '',
    '',
    '',
    ' 2>/dev/null',
    ' 2>&1',
    ' > /dev/null',
    ' > out.txt',
    ' >> README.md',
    ' &> out.txt',
    ' < README.md',
    ' < .env',
    ' <<< "$x"',
    ' <<E\nhello\nE',
    " <<'E'\n$(./evil)\nE",
    ' <<E\n$(./evil)\nE',
    ' # x',
    ' &',
  ],
]
const joints = ['; ', ' && ', ' || ', ' | ', '\n', ' & ', ';', '|']
const around: readonly ((script: string) => string)[] = [
  (one) => one,
  (one) => one,
  (one) => one,
  (one) => one,
  (one) => one,
  (one) => `( ${one} )`,
  (one) => `{ ${one}; }`,
  (one) => `echo "$(${one})"`,
  (one) => `x=$(${one}); echo "$x"`,
  (one) => `if ${one}; then ls; fi`,
  (one) => `for x in src two; do ${one}; done`,
  (one) => `for x in two/*; do ${one}; done`,
  (one) => `x=.env; ${one}`,
  (one) => `x=README.md; ${one}`,
  (one) => `x='a[$(./evil)]'; ${one}`,
  (one) => `cd src && ${one}`,
  (one) => `cd deep; ${one}`,
  (one) => `bash -c '${one.replaceAll("'", `'"'"'`)}'`,
  (one) => `f() { ${one}; }; f`,
  (one) => `while ${one}; do break; done`,
]
const noise = [
  '"',
  "'",
  '`',
  '$',
  '\\',
  '#',
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  '*',
  '?',
  '~',
  '=',
  '!',
  '\\\n',
  '\n',
  '\t',
  ' ',
  ';',
  '|',
  '&',
  '<',
  '>',
  '-',
  '--',
  '@',
  '%',
  '^',
  ',',
  '..',
  '/',
  '$(',
  '${',
  '<<E\n',
  '\u00a0',
  'é',
  '\0',
  '\r',
]

/** A random script in which the dangerous pieces are frequent. */
export function randomScript(random: () => number): string {
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)]!
  const command = (): string => {
    const { name, table } = pick(names)
    const words = [name]
    const flags = [...[...(table?.letters ?? '')].map((letter) => `-${letter}`), ...(table?.rows ?? [])]
    while (flags.length > 0 && random() < 0.45) {
      const { flag, joint, kind } = rowOf(pick(flags))
      const value =
        kind === undefined ? '' : random() < 0.5 ? (kind.includes('|') ? kind.split('|')[0]! : '1') : pick(operands)
      let text = kind === undefined ? flag : `${flag}${joint}${value}`
      if (random() < 0.08) text = text.slice(0, -1)
      if (random() < 0.06) text += pick(['i', 'o', 'e', '=x', 'oout.txt'])
      words.push(text)
    }
    if (random() < 0.15) words.push(pick(strange))
    if (name === 'sed' || name === 'sed -n')
      words.push(
        pick([
          "'1p'",
          "'s/e/b/'",
          "'s/e/b/w out.txt'",
          "'1e ./evil'",
          "'$p'",
          "'w out.txt'",
          "'/a/,/b/p'",
          "'s/.*/.\\/evil/e'",
          "'1,2d;p'",
        ]),
      )
    while (random() < 0.6) words.push(random() < 0.45 ? pick(operands.slice(0, 9)) : pick(operands))
    if (name === '[') words.push(']')
    return `${pick(before)}${words.join(' ')}${pick(behind)}`
  }
  let script = command()
  while (random() < 0.3) script += pick(joints) + command()
  script = pick(around)(script)
  while (random() < 0.12) {
    const at = Math.floor(random() * script.length)
    script = script.slice(0, at) + pick(noise) + script.slice(at)
  }
  return script
}
