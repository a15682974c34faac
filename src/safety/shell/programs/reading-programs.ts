import type { Known } from '../shell-judgement.ts'
import { is, unclear } from '../shell-judgement.ts'
import { known, optionsOf } from '../command-options.ts'
import { said } from '../simple-command.ts'

const looks = known({ class: 'reads', touch: 'read' })
const says = known({ class: 'reads', free: true })
const runsOther = (why: string) => is('dynamic', why)

const plain =
  'cat head tail wc nl od hexdump strings stat du df ls dir tree diff cmp comm paste join cut fold fmt rev tac md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum base64 base32 realpath readlink cloc scc tokei column expand unexpand pr zcat bzcat xzcat lsof colordiff file cd pushd popd dirs chdir exa eza lsd hexyl readelf size'.split(
    ' ',
  )

const sayers =
  'echo printf true false : pwd exit return break continue shift sleep wait jobs seq expr basename dirname date uname whoami id groups hostname uptime ps free nproc lscpu arch which type whereis man help tty stty tput clear cal bc times ulimit umask shopt getopts test [ local read let sync pgrep logname locale getconf fg bg disown vmstat sw_vers numfmt caller tr yes factor'.split(
    ' ',
  )

/** Programs with a pattern and then files as operands. */
const grep = known({
  class: 'reads',
  touch: 'read',
  skip: 1,
  instead: ['-e', '--regexp', '-f', '--file'],
  takes: ['-m', '-A', '-B', '-C', '--include', '--exclude', '--exclude-dir', '--color', '-d', '-D'],
})

const rg = known({
  class: 'reads',
  touch: 'read',
  skip: 1,
  instead: ['-e', '--regexp', '-f', '--file', '--files', '--type-list'],
  takes: [
    '-g',
    '--glob',
    '--iglob',
    '-t',
    '-T',
    '--type',
    '--type-not',
    '-m',
    '-A',
    '-B',
    '-C',
    '--sort',
    '-r',
    '--replace',
  ],
  unless: {
    '--pre': runsOther('--pre runs a program on every file'),
    '--hostname-bin': runsOther('--hostname-bin runs a program'),
  },
})

/** Programs that write to the second file. */
const intoSecond =
  (takes: readonly string[]): Known =>
  (args) => {
    const { operands, unclear: word } = optionsOf(args, takes)
    if (word) return unclear(word)
    const writes = operands.length > 1
    return {
      ...is(writes ? 'edits' : 'reads', writes ? 'it writes a file' : 'it only looks'),
      paths: operands.map((one, i) => ({ word: one, how: i === 1 ? 'write' : 'read' })),
    }
  }

/** Pagers: `+!command` and similar arguments run commands. */
const pager = known({
  class: 'reads',
  touch: 'read',
  unless: Object.fromEntries(
    ['-o', '-O', '-k', '--lesskey-src', '--log-file', '--pager'].map((flag) => [
      flag,
      runsOther(`${flag} is more than reading`),
    ]),
  ),
})

export const readers: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(plain.map((name) => [name, looks])),
  ...Object.fromEntries(sayers.map((name) => [name, says])),
  date: known({
    class: 'reads',
    free: true,
    unless: { '-s': is('system', 'it sets the clock'), '--set': is('system', 'it sets the clock') },
  }),
  hostname: (args) =>
    args.some((word) => !said(word).startsWith('-'))
      ? is('system', 'it renames the machine')
      : is('reads', 'it only looks'),
  tree: known({ class: 'reads', touch: 'read', writes: ['-o'], takes: ['-L', '-I', '-P'] }),
  file: known({ class: 'reads', touch: 'read', unless: { '-C': is('edits', 'it writes a file') } }),
  sort: known({
    class: 'reads',
    touch: 'read',
    takes: ['-k', '-t', '-S', '--key', '--field-separator'],
    writes: ['-o', '--output'],
    unless: { '--compress-program': runsOther('--compress-program runs a program') },
  }),
  shuf: known({ class: 'reads', touch: 'read', takes: ['-n', '-i'], writes: ['-o', '--output'] }),
  uniq: intoSecond(['-f', '-s', '-w']),
  xxd: intoSecond(['-l', '-s', '-c', '-g']),
  grep,
  egrep: grep,
  fgrep: grep,
  zgrep: grep,
  ag: known({ class: 'reads', touch: 'read', skip: 1, unless: { '--pager': runsOther('--pager runs a program') } }),
  ack: known({ class: 'reads', touch: 'read', skip: 1, unless: { '--pager': runsOther('--pager runs a program') } }),
  rg,
  jq: known({
    class: 'reads',
    touch: 'read',
    skip: 1,
    instead: ['-f', '--from-file'],
    takes: ['--arg', '--argjson', '--indent'],
  }),
  yq: known({
    class: 'reads',
    touch: 'read',
    skip: 1,
    unless: {
      '-i': is('unknown', 'it changes files in place'),
      '--inplace': is('unknown', 'it changes files in place'),
    },
  }),
  printenv: (args) =>
    args.length === 0
      ? is('secrets', 'it shows the whole environment, keys too')
      : secretNames(args.map((word) => said(word))),
  set: (args) =>
    args.length === 0
      ? is('secrets', 'it shows every variable, keys too')
      : is('reads', 'it sets options of the shell'),
  mapfile: known({ class: 'reads', free: true, unless: { '-C': runsOther('-C runs a command') } }),
  readarray: known({ class: 'reads', free: true, unless: { '-C': runsOther('-C runs a command') } }),
  less: pager,
  more: pager,
  bat: pager,
  man: known({
    class: 'reads',
    free: true,
    unless: {
      '-P': runsOther('-P runs a program'),
      '--pager': runsOther('it runs a program'),
      '-H': runsOther('-H runs a program'),
    },
  }),
}

function secretNames(names: readonly string[]) {
  return names.every((name) => /^(?:HOME|PATH|PWD|SHELL|USER|LANG|TERM|NODE_ENV|CI|EDITOR|TMPDIR)$/.test(name))
    ? is('reads', 'it only looks')
    : is('secrets', 'it shows variables that may hold keys')
}
