import type { Known } from '../shell-judgement.ts'
import { is, unclear } from '../shell-judgement.ts'
import { hasFlag, programOf, optionsOf } from '../command-options.ts'
import { wordText } from '../simple-command.ts'

const writes = programOf({ class: 'edits', touch: 'write' })
const removes = programOf({ class: 'removes', touch: 'remove' })

/**
 * A script of sed that may write a file (`w`) or run a command (`e`): these letters come at an end, or after an address or a
 * substitution.
 */
const actingScript = /(?:^|[;{}\n/|#,@!$\d])\s*[gpIiMm\d]*[weWrR](?:\s|$|;|\d)|^\s*[weWrR]/

const sed: Known = (args) => {
  const options = optionsOf(args, ['-e', '--expression', '-f', '--file', '-l'])
  if (options.unclear) return unclear(options.unclear)
  const scripts = options.values.filter(({ flag }) => flag === '-e' || flag === '--expression').map(({ word }) => word)
  const own = scripts.length > 0 ? scripts : options.operands.slice(0, 1)
  if (hasFlag(options.flags, '--file') || options.values.some(({ flag }) => flag === '-f'))
    return is('dynamic', 'its script is in a file and could run commands')
  if (!own.every((word) => word.values?.every((value) => !actingScript.test(value))))
    return is('dynamic', 'its script may write files or run commands')
  const inPlace = options.flags.some((flag) => /^-[nErszu]*i|^--in-place/.test(flag))
  const files = options.operands.slice(scripts.length > 0 ? 0 : 1)
  return {
    ...is(inPlace ? 'edits' : 'reads', inPlace ? 'it changes files in place' : 'it only reads'),
    paths: files.map((word) => ({ word, how: inPlace ? 'write' : 'read' })),
  }
}

const tar: Known = (args) => {
  const options = optionsOf(args, ['-f', '--file', '-C', '--directory', '--exclude'])
  if (options.unclear) return unclear(options.unclear)
  const runs = [
    '--to-command',
    '--checkpoint-action',
    '--use-compress-program',
    '--rsh-command',
    '--rmt-command',
    '--info-script',
    '--new-volume-script',
    '-I',
    '-F',
  ]
  if (
    runs.some((flag) =>
      options.flags.some(
        (given) =>
          given.split('=', 1)[0] === flag ||
          (flag.startsWith('--') &&
            given.startsWith('--') &&
            given.length > 5 &&
            flag.startsWith(given.split('=', 1)[0]!)),
      ),
    )
  )
    return is('dynamic', 'it runs another program')
  const first = (args[0] ? wordText(args[0]) : '').replace(/^-/, '')
  const lists = /^[a-z]*t[a-z]*$/.test(first) || hasFlag(options.flags, '--list')
  if (hasFlag(options.flags, '--absolute-names') || /P/.test(first))
    return is('outside', 'it writes wherever the archive says')
  const how = lists ? 'read' : 'write'
  const words = [
    ...options.operands.slice(args[0] && wordText(args[0]).startsWith('-') ? 0 : 1),
    ...options.values.map(({ word }) => word),
  ]
  return {
    ...is(lists ? 'reads' : 'edits', lists ? 'it only reads' : 'it writes files'),
    paths: words.map((word) => ({ word, how })),
  }
}

const chmod: Known = (args) => {
  const { operands, unclear: word } = optionsOf(args)
  if (word) return unclear(word)
  const mode = operands[0] ? wordText(operands[0]) : ''
  if (/s|^[2-7]\d{3}$/.test(mode)) return is('system', 'it lets a file run as another user')
  return {
    ...is('edits', 'it changes the permissions of files'),
    paths: operands.slice(1).map((one) => ({ word: one, how: 'write' })),
  }
}

export const editors: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(
    'touch mkdir cp mv ln tee install split csplit gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd zip unzip patch dos2unix unix2dos rename mkfifo'
      .split(' ')
      .map((name) => [name, writes]),
  ),
  mkdir: programOf({ class: 'edits', touch: 'write', takes: ['-m', '--mode'] }),
  touch: programOf({ class: 'edits', touch: 'write', takes: ['-d', '-t', '--date'] }),
  split: programOf({
    class: 'edits',
    touch: 'write',
    takes: ['-l', '-b', '-n', '-a'],
    unless: { '--filter': is('dynamic', '--filter runs a command') },
  }),
  mktemp: (args) =>
    args.some((word) => !wordText(word).startsWith('-'))
      ? writes(args, { name: 'mktemp' })
      : is('outside', 'it writes into the temporary folder'),
  zip: programOf({
    class: 'edits',
    touch: 'write',
    unless: { '-T': is('dynamic', 'it runs a command'), '--unzip-command': is('dynamic', 'it runs a command') },
  }),
  rm: removes,
  rmdir: removes,
  unlink: removes,
  truncate: programOf({ class: 'removes', touch: 'remove', takes: ['-s', '--size'] }),
  trash: removes,
  sed,
  gsed: sed,
  tar,
  chmod,
}
