import type { Known } from '../shell-judgement.ts'
import { is, reads, unclear } from '../shell-judgement.ts'
import { hasFlag, programOf, optionsOf } from '../command-options.ts'
import { wordText } from '../simple-command.ts'

const setOf = (names: string) => names.split(' ')

/** Programs that show the files in their operands. */
const showing = setOf(
  'cat tac head tail wc nl od xxd hexdump md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum base32 base64 cut paste uniq fold fmt pr rev expand unexpand column diff diff3 cmp comm join strings stat file ls dir vdir du df tree exa eza readlink realpath tsort look zcat bzcat xzcat zstdcat nm objdump readelf size ldd cloc tokei wdiff colordiff',
)

/** Programs whose operands are not files. */
const printing = setOf(
  'echo true false : pwd date cal whoami id groups uname arch hostname uptime nproc free ps pgrep pidof lsof which whereis type seq sleep wait jobs tty locale getconf getent lscpu lsblk lsmod lspci lsusb vmstat iostat w who last basename dirname expr factor numfmt yes clear tput stty times ulimit umask break continue return exit shift tr printf test [ dircolors ss netstat sw_vers',
)

/** Flags with a value in the programs that show files, so that the value is not taken for a file. */
const values = setOf('-n -c -w -d -f -b -t -k -s -I -L --max-depth -N -j')

const search: Known = (args, call) => {
  const options = optionsOf(args)
  if (hasFlag(options.flags, '--pre') || hasFlag(options.flags, '--pre-glob'))
    return is('dynamic', 'it runs a program on every file')
  if (options.flags.some((flag) => /^(?:--files|--type-list)$/.test(flag))) return listing(args, call)
  const dark = hasFlag(options.flags, '-f') ? args.find((word) => word.glob) : undefined
  return dark ? unclear(dark) : matching(args, call)
}

const listing = programOf({ class: 'reads', touch: 'read', takes: ['-g', '--glob', '-t', '--type'] })
const matching = programOf({
  class: 'reads',
  touch: 'read',
  skip: 1,
  instead: ['-e', '--regexp', '-f', '--file'],
  takes: setOf('-A -B -C -m -g -t -T -M -d -j --glob --iglob --type --include --exclude --exclude-dir --max-count'),
})

/** Words of awk's language that run a command or write a file. */
const acting = /system|getline|(?<!\|)\|(?!\|)|@|\bprintf?\b[^;}]*>/

const awk: Known = (args) => {
  const options = optionsOf(args, ['-F', '-v', '-f', '--file'])
  if (options.unclear) return unclear(options.unclear)
  const [script, ...files] = options.operands
  const isKnown = script?.values?.every((value) => !acting.test(value))
  if (!isKnown || options.flags.some((flag) => !/^-[Fv]/.test(flag)))
    return is('dynamic', 'its script may write files or run commands')
  return { ...reads(), paths: files.map((word) => ({ word, how: 'read' })) }
}

const shown = programOf({ class: 'reads', touch: 'read', takes: values })
const writing = programOf({ class: 'edits', touch: 'write' })
const jq = programOf({ class: 'reads', touch: 'read', skip: 1, takes: ['--arg', '--indent', '--tab'] })

/** Judges the commands that change a shell's folder: the folder is only read. */
const cd: Known = (args) => {
  const operands = args.filter((word) => wordText(word) !== '--')
  const away = operands.find((word) => !word.values || word.values.some((value) => value.startsWith('-')))
  if (away) return is('dynamic', 'the folder that it enters is known only when it runs')
  return { ...reads('it enters a folder'), paths: operands.map((word) => ({ word, how: 'read' })) }
}

const evaluation: Known = (args) =>
  args.some((word) => wordText(word) === '-v' || !word.values)
    ? is('dynamic', 'it evaluates text as the shell’s own language')
    : reads()

/** Programs that only read, as far as their names and flags tell. */
export const lookers: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(showing.map((name) => [name, shown])),
  ...Object.fromEntries(printing.map((name) => [name, programOf({ class: 'reads', free: true })])),
  ...Object.fromEntries(setOf('grep egrep fgrep zgrep rg ag ack').map((name) => [name, search])),
  ...Object.fromEntries(setOf('awk gawk mawk nawk').map((name) => [name, awk])),
  ...Object.fromEntries(setOf('printf test [').map((name) => [name, evaluation])),
  jq,
  yq: jq,
  cd,
  uniq: (args, call) => (optionsOf(args).operands.length > 1 ? writing(args, call) : shown(args, call)),
  date: programOf({
    class: 'reads',
    free: true,
    unless: { '-s': is('system', 'it sets the clock'), '--set': is('system', 'it sets the clock') },
  }),
  tree: programOf({ class: 'reads', touch: 'read', takes: ['-L', '-I', '-P'], writes: ['-o'] }),
  file: programOf({
    class: 'reads',
    touch: 'read',
    takes: ['-F'],
    unless: { '-C': is('edits', 'it compiles a file') },
  }),
}
